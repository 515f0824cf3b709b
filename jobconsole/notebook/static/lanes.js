// Time axes: the requests of one operation, and a lane for each of several. Drawn with boxes placed in per cent, so that they
// follow any width; each has the same facts in words beside it.

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];

/** A range of time that stays as it is for a while, and its ticks. */
class Axis {
  constructor(from, to) {
    const span = Math.max(4 * SECOND, to - from);
    const wanted = (span * 1.06) / 5 / SECOND;
    this.step = (STEPS.find((step) => step >= wanted) ?? Math.ceil(wanted / 604800) * 604800) * SECOND;
    this.from = from;
    this.to = from + Math.ceil((span * 1.06) / this.step) * this.step;
  }

  place(at) {
    return Math.max(0, Math.min(100, ((at - this.from) / (this.to - this.from)) * 100));
  }

  box(name, from, to, attrs) {
    const left = this.place(from);
    return h("span", { class: name, style: `left:${left.toFixed(3)}%;width:${Math.max(0, this.place(to) - left).toFixed(3)}%`, ...attrs });
  }

  at(name, moment, attrs, ...children) {
    return h("span", { class: name, style: `left:${this.place(moment).toFixed(3)}%`, ...attrs }, ...children);
  }

  ticks() {
    const first = Math.ceil(this.from / this.step) * this.step;
    const line = h("div", { class: "jc-ticks", "aria-hidden": "true" });
    for (let at = first; at <= this.to; at += this.step) {
      const place = this.place(at);
      const edge = place < 4 ? "first" : place > 94 ? "last" : null;
      line.append(this.at("jc-tick", at, { "data-edge": edge }, clock(at, this.from)));
    }
    return line;
  }
}

/** Requests, delays, Retry-After and states of one operation. */
class Attempts {
  constructor(link) {
    this.link = link;
    this.axisNode = h("div");
    this.why = h("p", { class: "jc-why", role: "status" });
    this.node = h("div", { class: "jc-attempts" }, this.axisNode, this.why);
  }

  /** Why the provider was asked in that second, and why not earlier (U7). */
  ask(at) {
    this.link.asker = this;
    this.link.send({ type: "why", id: this.detail.id, at });
  }

  set(detail) {
    if (detail.id !== this.detail?.id) say(this.why, "");
    this.detail = detail;
    const focused = [...this.axisNode.querySelectorAll("button")].indexOf(document.activeElement);
    const { row, attempts } = detail;
    const now = this.link.now();
    const last = Math.max(row.ended ?? now, row.next ?? 0, ...attempts.map((each) => each.end ?? each.at));
    this.axis = new Axis(row.began, last);
    this.axisNode.replaceChildren();
    if (!attempts.length) return this.axisNode.append(h("p", { class: "jc-quiet" }, this.link.texts.no_attempts));
    const track = h("div", { class: "jc-track", role: "group", "aria-label": this.summary() });
    track.append(...this.states(), ...attempts.flatMap((each, at) => this.attempt(each, attempts[at + 1], row)));
    if (row.stops <= this.axis.to) track.append(this.axis.at("jc-deadline", row.stops, { title: `${row.by ?? "deadline"} ${full(row.stops)}` }));
    if (!row.ended) track.append((this.needle = this.axis.at("jc-now", now)));
    else this.needle = null;
    const more = row.stops > this.axis.to ? h("span", { class: "jc-beyond" }, `${row.by ?? "deadline"} ${clock(row.stops, now)} →`) : null;
    this.axisNode.append(track, this.axis.ticks(), h("div", { class: "jc-legend" }, this.legend(), more));
    return this.axisNode.querySelectorAll("button")[focused]?.focus();
  }

  tick() {
    if (!this.detail?.attempts?.length || !this.needle || !this.link.isLive) return;
    const now = this.link.now();
    if (now > this.axis.to) this.set(this.detail);
    else this.needle.style.left = `${this.axis.place(now).toFixed(3)}%`;
  }

  summary() {
    const { attempts, row } = this.detail;
    return `${counted(attempts.length, "request")} since ${full(row.began)}; the last: ${this.words(attempts[attempts.length - 1])}`;
  }

  words(attempt) {
    const mark = this.link.terms.marks[attempt.outcome];
    const number = attempt.number ? ` ${attempt.number}` : "";
    const took = attempt.end ? ` in ${attempt.end - attempt.at} ms` : "";
    const parts = [`${mark.glyph} ${attempt.what}${number}`, `${attempt.status ?? mark.word}${took}`, attempt.said];
    if (attempt.retry) parts.push(`Retry-After ${lasting(attempt.retry * SECOND)}`);
    if (attempt.next) parts.push(`next ${clock(attempt.next)} ${this.link.terms.sources[attempt.source] ?? ""}`);
    return parts.filter(Boolean).join(", ");
  }

  attempt(attempt, following, row) {
    const end = attempt.end ?? attempt.at;
    const until = following?.at ?? (row.ended ? end : Math.min(attempt.next ?? end, this.axis.to));
    const made = [this.axis.box("jc-delay", end, until)];
    if (attempt.retry) made.push(this.axis.box("jc-retry", end, end + attempt.retry * SECOND, { title: `Retry-After ${attempt.retry} s` }));
    const mark = this.link.terms.marks[attempt.outcome];
    const title = `${clock(attempt.at)} ${this.words(attempt)}. Why then?`;
    const style = `left:${this.axis.place(attempt.at).toFixed(3)}%`;
    const attrs = { class: "jc-mark", style, title, "aria-label": title, "data-outcome": attempt.outcome };
    return [...made, button(mark.glyph, () => this.ask(attempt.at), attrs)];
  }

  /** How long the provider was seen in which state. */
  states() {
    const seen = this.detail.attempts.filter((each) => each.end && each.said && ["seen", "good_end", "bad_end"].includes(each.outcome) && each.number);
    const bands = [];
    for (const each of seen) {
      const last = bands[bands.length - 1];
      if (last && last.said === each.said) last.to = each.end;
      else {
        if (last) last.to = each.end;
        bands.push({ said: each.said, from: each.end, to: each.end });
      }
    }
    const { row } = this.detail;
    if (bands.length && !row.ended) bands[bands.length - 1].to = Math.min(this.link.now(), this.axis.to);
    return bands.filter((band) => band.to > band.from).map((band) => {
      const box = this.axis.box("jc-state", band.from, band.to, { title: band.said });
      box.append(foreign(band.said));
      return box;
    });
  }

  legend() {
    const used = new Set(this.detail.attempts.map((each) => each.outcome));
    const marks = Object.entries(this.link.terms.marks).filter(([name]) => used.has(name));
    const shown = marks.map(([name, mark]) => h("span", { class: "jc-key" }, h("span", { "data-outcome": name }, mark.glyph), mark.word));
    if (this.detail.attempts.some((each) => each.retry)) shown.push(h("span", { class: "jc-key" }, h("span", { class: "jc-retry-key" }), "Retry-After"));
    return shown;
  }
}

/** A lane for each operation: from its start to its end or now, and on to its deadline. */
class Lanes {
  constructor(link, onOpen) {
    this.link = link;
    this.onOpen = onOpen;
    this.node = h("div", { class: "jc-lanes" });
    this.bars = [];
  }

  update(what) {
    if (what === "whole" || what === "patch") this.draw();
    if (what === "tick") this.tick();
  }

  draw() {
    const now = this.link.now();
    const all = [...this.link.rows.values()].sort((one, other) => rank(one) - rank(other) || other.began - one.began);
    const rows = all.slice(0, 40);
    this.bars = [];
    if (!rows.length) return this.node.replaceChildren(h("p", { class: "jc-empty" }, this.link.texts.empty));
    const from = Math.min(...rows.map((row) => row.began));
    const last = Math.max(...rows.map((row) => row.ended ?? now));
    this.axis = new Axis(from, last + (last - from) / 5);
    this.bars = rows.map((row) => this.lane(row));
    const more = h("p", { class: "jc-quiet" }, all.length > 40 ? `+ ${grouped(all.length - 40)} more` : "");
    this.node.replaceChildren(h("div", { class: "jc-lane" }, h("span"), this.axis.ticks()), ...this.bars.map((bar) => bar.lane), more);
    return this.tick();
  }

  lane(row) {
    const phase = this.link.terms.phases[row.phase];
    const done = this.axis.box("jc-lane-done", row.began, row.began);
    done.style.cssText += `;${hueOf(phase.hue)}`;
    const left = row.ended ? null : this.axis.box("jc-lane-left", row.began, row.stops);
    const edge = row.ended || row.stops > this.axis.to ? null : this.axis.at("jc-deadline", row.stops, { title: `${row.by ?? "deadline"} ${full(row.stops)}` });
    const name = h("button", { type: "button", class: "jc-lane-name", onclick: () => this.onOpen(row.id) }, phaseMark(this.link.terms, row.phase), foreign(row.name ?? row.id));
    return { row, done, lane: h("div", { class: "jc-lane" }, name, h("div", { class: "jc-lane-track" }, left, done, edge)) };
  }

  tick() {
    const now = this.link.now();
    for (const { row, done } of this.bars) {
      const width = this.axis.place(row.ended ?? now) - this.axis.place(row.began);
      done.style.width = `max(4px, ${width.toFixed(3)}%)`;
      attr(done, "title", `${this.link.terms.phases[row.phase].word}, ${lasting((row.ended ?? now) - row.began)}`);
    }
    if (this.bars.length && now > this.axis.to && this.link.isLive) this.draw();
  }
}
