// One operation: budgets, progress, what may be chosen, its requests on a time axis, its story.

/** Time, checks and progress as bars with their figures; they move without the kernel. */
class Gauges {
  constructor(link) {
    this.link = link;
    this.bars = { time: new Bar("budget", "time budget"), checks: new Bar("budget", "checks"), progress: new Bar("progress", "progress") };
    this.figures = Object.fromEntries(Object.keys(this.bars).map((name) => [name, h("span", { class: "jc-figure" })]));
    this.notes = Object.fromEntries(Object.keys(this.bars).map((name) => [name, h("span", { class: "jc-note" })]));
    const line = (name) => h("div", { class: "jc-gauge" }, h("span", { class: "jc-label" }, name), this.bars[name].node, this.figures[name], this.notes[name]);
    this.node = h("div", { class: "jc-gauges" }, ...Object.keys(this.bars).map(line));
  }

  set(row, granted) {
    Object.assign(this, { row, granted });
    this.tick();
  }

  tick() {
    const { row } = this;
    if (!row) return;
    const now = this.link.now();
    timeGauge(row, now, this.bars.time, this.figures.time, this.notes.time);
    checksGauge(row, now, this.bars.checks, this.figures.checks, this.notes.checks, this.link.terms);
    if (this.granted) say(this.notes.time, [this.notes.time.textContent, this.granted].filter(Boolean).join(" · "));
    const has = row.progress !== undefined;
    this.bars.progress.node.hidden = !has;
    if (has) this.bars.progress.set(row.progress, percent(row));
    say(this.figures.progress, has ? percent(row) : "");
    const none = filled(this.link.terms.texts.no_progress, { provider: row.provider });
    say(this.notes.progress, has ? reported(row, now) : (row.counts ?? none));
  }
}

const percent = (row) => `${Math.round(row.progress * 100)} %`;

const reported = (row, now) => [row.counts, row.seen && !row.ended ? `reported ${ago(row.seen, now)}` : ""].filter(Boolean).join(" · ");

function timeGauge(row, now, bar, figure, note) {
  const used = (row.ended ?? now) - row.began;
  const most = row.stops - row.began;
  const words = `${lasting(used)} of ${lasting(most)}`;
  bar.set(most > 0 ? used / most : 1, words);
  say(figure, row.ended ? lasting(used) : words);
  const ending = row.stops > now ? `ends ${ahead(row.stops, now)}` : `over since ${clock(row.stops, now)}`;
  say(note, row.ended ? `ended ${clock(row.ended, now)} UTC` : `${row.by ? `${row.by} ` : ""}${ending}`);
}

function checksGauge(row, now, bar, figure, note, terms) {
  bar.set(row.most ? row.used / row.most : 1, `${row.used} of ${row.most}`);
  say(figure, `${row.used} of ${row.most}`);
  const next = row.next && !row.ended ? `next ${ahead(row.next, now)}` : "";
  say(note, next || (row.failures ? `${counted(row.failures, "failure")}` : ""));
  attr(note, "title", next ? `${full(row.next)}, ${terms.sources[row.source] ?? ""}` : null);
}

/** Name, ids and the one sentence to read. */
function headline(link, row) {
  const name = row.name ? foreign(row.name, { class: "jc-name" }) : h("span", { class: "jc-name" }, row.id);
  const facts = [row.name ? row.id : null, row.provider, row.job ? `job ${row.job}` : "no job id yet", row.task ? `task ${row.task}` : null];
  return h(
    "div",
    { class: "jc-headline" },
    h("div", { class: "jc-line" }, phaseMark(link.terms, row.phase), name, row.state ? foreign(row.state, { class: "jc-word" }) : null),
    h("div", { class: "jc-quiet" }, ...facts.filter(Boolean).flatMap((fact, at) => [at ? " · " : "", foreign(fact)])),
    row.say ? h("p", { class: "jc-say" }, foreign(row.say)) : null,
  );
}

class Detail {
  constructor(link, onClose) {
    this.link = link;
    this.head = h("div");
    this.why = h("p", { class: "jc-why" });
    this.gauges = new Gauges(link);
    this.options = new Options(link);
    this.attempts = new Attempts(link);
    this.story = h("ol", { class: "jc-story" });
    const told = h("details", null, h("summary", null, "Story"), this.story);
    const close = onClose ? button("Close", onClose, { class: "jc-button jc-quiet-button", "aria-label": "Close details" }) : null;
    this.body = h("div", { class: "jc-detail-body" }, this.gauges.node, this.why, this.options.node, this.attempts.node, told);
    this.node = h("section", { class: "jc-detail", "aria-label": "Details" }, h("div", { class: "jc-detail-head" }, this.head, close), this.body);
  }

  set(detail) {
    if (!detail) return;
    this.body.hidden = Boolean(detail.gone);
    if (detail.gone) {
      this.head.replaceChildren(h("p", null, `${detail.id}: ${this.link.terms.texts.gone}`));
      return;
    }
    this.head.replaceChildren(headline(this.link, detail.row));
    this.gauges.set(detail.row, detail.granted);
    say(this.why, detail.why);
    this.options.set(detail.id, detail.row.revision, detail.options, detail.missing);
    this.attempts.set(detail);
    this.story.replaceChildren(...detail.story.map(([at, text]) => storyLine(at, text, detail.row.began)));
  }

  tick() {
    this.gauges.tick();
    this.attempts.tick();
    this.options.refresh();
  }
}

function storyLine(at, text, beside, id) {
  return h("li", null, h("time", { datetime: new Date(at).toISOString() }, clock(at, beside)), id ? h("span", { class: "jc-id" }, id) : null, foreign(text));
}
