// One operation: budgets, progress, what may be chosen, its requests on a time axis, its story.

/** A bar, its figures, and a note. */
class Gauge {
  constructor(kind, label) {
    this.bar = new Bar(kind, label);
    this.figure = h("span", { class: "jc-figure" });
    this.note = h("span", { class: "jc-note" });
    this.nodes = [this.bar.node, this.figure, this.note];
  }

  set(share, figure, note) {
    this.bar.node.hidden = share === undefined;
    if (share !== undefined) this.bar.set(share, figure);
    say(this.figure, figure);
    say(this.note, note);
  }
}

/** Time, checks and progress of an operation; they move without the kernel. */
class Gauges {
  constructor(link) {
    this.link = link;
    this.time = new Gauge("budget", "time budget");
    this.checks = new Gauge("budget", "checks");
    this.progress = new Gauge("progress", "progress");
    const line = (name) => h("div", { class: "jc-gauge" }, h("span", { class: "jc-label" }, name), ...this[name].nodes);
    this.node = h("div", { class: "jc-gauges" }, ...["time", "checks", "progress"].map(line));
  }

  set(row, granted) {
    Object.assign(this, { row, granted });
    this.tick();
  }

  tick() {
    const { row, link } = this;
    if (!row) return;
    const now = link.now();
    this.time.set(...timeGauge(row, now, this.granted));
    this.checks.set(...checksGauge(row, now));
    attr(this.checks.note, "title", row.next ? `${full(row.next)}, ${link.terms.sources[row.source] ?? ""}` : null);
    const none = row.counts ?? filled(link.texts.no_progress, { provider: row.provider });
    this.progress.set(row.progress, percent(row), row.progress === undefined ? none : reported(row, now));
  }
}

const percent = (row) => (row.progress === undefined ? "" : `${Math.round(row.progress * 100)} %`);

const reported = (row, now) => [row.counts, row.seen && !row.ended ? `reported ${ago(row.seen, now)}` : ""].filter(Boolean).join(" · ");

function timeGauge(row, now, granted) {
  const used = (row.ended ?? now) - row.began;
  const most = row.stops - row.began;
  const ending = row.stops > now ? `ends ${ahead(row.stops, now)}` : `over since ${clock(row.stops, now)}`;
  const note = row.ended ? `ended ${clock(row.ended, now)}` : [row.by, ending].filter(Boolean).join(" ");
  const figure = row.ended ? lasting(used) : `${lasting(used)} of ${lasting(most)}`;
  return [most > 0 ? used / most : 1, figure, granted ? `${note} · ${granted}` : note];
}

function checksGauge(row, now) {
  const planned = row.next > now ? `next ${ahead(row.next, now)}` : "due now";
  const note = row.next && !row.ended ? planned : row.failures ? counted(row.failures, "failure") : "";
  return [row.most ? row.used / row.most : 1, `${row.used} of ${row.most}`, note];
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
    this.account = h("p", { class: "jc-note" });
    this.options = new Options(link);
    this.attempts = new Attempts(link);
    this.story = h("ol", { class: "jc-story" });
    const told = h("details", null, h("summary", null, "Story"), this.story);
    const close = onClose ? button("Close", onClose, { class: "jc-button jc-quiet-button", "aria-label": "Close details" }) : null;
    this.body = h("div", { class: "jc-detail-body" }, this.gauges.node, this.account, this.why, this.options.node, this.attempts.node, told);
    this.node = h("section", { class: "jc-detail", "aria-label": "Details" }, h("div", { class: "jc-detail-head" }, this.head, close), this.body);
  }

  set(detail) {
    if (!detail) return;
    this.body.hidden = Boolean(detail.gone);
    if (detail.gone) {
      this.head.replaceChildren(h("p", null, `${detail.id}: ${this.link.texts.gone}`));
      return;
    }
    this.head.replaceChildren(headline(this.link, detail.row));
    this.gauges.set(detail.row, detail.granted);
    say(this.account, detail.account);
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
