// The table of operations: rows keyed by id and mended in place, so that focus, marks and scroll survive every update. While the
// pointer is over the rows, none of them moves (U8).

const COLUMNS = [
  ["state", "State", "state"],
  ["name", "Operation", "name"],
  ["stops", "Time budget", "time"],
  ["used", "Checks", "checks"],
  ["progress", "Progress", "progress"],
  ["tried", "Last answer", "answer"],
];
const PAGE = 50; // pages.py

/** Made ids differ at their end; what a person named stays whole. */
const shortId = (id) => id.replace(/^op_[0-9A-Z]{20}(?=[0-9A-Z]{6}$)/, "…");

class Line {
  constructor(table, id) {
    this.table = table;
    this.id = id;
    const cell = (name, ...children) => h("td", { class: `jc-cell-${name}` }, ...children);
    this.mark = h("input", { type: "checkbox", tabindex: "-1", onchange: () => table.toggle(id) });
    this.phase = h("span");
    this.sub = h("bdi", { class: "jc-note" });
    this.name = h("button", { type: "button", class: "jc-open", tabindex: "-1", onclick: () => table.open(id) });
    this.ids = h("bdi", { class: "jc-note" });
    this.time = new Gauge("budget", "time budget");
    this.checks = new Gauge("budget", "checks");
    this.progress = new Gauge("progress", "progress");
    this.answer = h("span", { class: "jc-figure" });
    this.tried = h("span", { class: "jc-note" });
    this.act = button("", () => table.open(id, true), { tabindex: "-1" });
    this.node = h(
      "tr",
      { "data-id": id, tabindex: "-1" },
      cell("mark", this.mark),
      cell("state", this.phase, this.sub),
      cell("name", this.name, this.ids),
      ...["time", "checks", "progress"].map((name) => cell(name, ...this[name].nodes)),
      cell("answer", this.answer, this.tried),
      cell("act", this.act),
    );
  }

  set(row) {
    if (row === this.row) return;
    const { terms } = this.table.link;
    if (row.phase !== this.row?.phase) this.phase.replaceChildren(phaseMark(terms, row.phase));
    this.row = row;
    attr(this.node, "data-asks", row.asks ?? null);
    const word = row.state && row.state.toLowerCase().replaceAll("_", " ") !== terms.phases[row.phase].word ? row.state : "";
    const rests = row.asks && row.rests > this.table.link.now() ? "snoozed" : "";
    const flags = [row.flags, row.asks && row.with ? `with ${row.with}` : "", rests].filter(Boolean).join(", ");
    const sub = [word, flags, row.asks || row.phase === "failed" ? row.say : ""].filter(Boolean).join(" · ");
    say(this.sub, sub);
    attr(this.sub, "title", row.say ? `${row.state ?? ""} ${row.say}`.trim() : null);
    say(this.name, row.name ?? row.id);
    attr(this.name, "aria-label", `${row.name ?? row.id}: details`);
    say(this.ids, [row.provider, row.name ? shortId(row.id) : ""].filter(Boolean).join(" · "));
    attr(this.ids, "title", [row.id, row.job ? `job ${row.job}` : ""].filter(Boolean).join(", "));
    attr(this.mark, "aria-label", `mark ${row.name ?? row.id}`);
    say(this.act, row.asks === "decision" ? "Answer" : row.asks === "look" ? "See" : row.ended ? "Details" : "Actions");
    attr(this.act, "data-asks", row.asks ?? null);
    attr(this.act, "aria-label", `${this.act.textContent}: ${row.name ?? row.id}`);
    attr(this.node, "data-ended", row.ended ? "" : null);
    this.tick();
  }

  tick() {
    const { row } = this;
    const now = this.table.link.now();
    this.time.set(...timeGauge(row, now));
    this.checks.set(...checksGauge(row, now));
    this.progress.set(row.progress, percent(row) || "–", row.counts ?? "");
    say(this.answer, row.status === undefined ? (row.tried ? "no answer" : "–") : String(row.status));
    say(this.tried, row.tried ? ago(row.tried, now) : "");
  }
}

class Table {
  constructor(link) {
    this.link = link;
    this.lines = new Map();
    this.query = { ...link.whole.query };
    this.detail = new Detail(link, () => this.open(""));
    this.waiting = h("p", { class: "jc-quiet", role: "status" });
    this.expansion = h("tr", { class: "jc-expansion" }, h("td", { colspan: COLUMNS.length + 2 }, this.waiting, this.detail.node));
    this.filter = h("input", { type: "search", class: "jc-filter", maxlength: 200, placeholder: "filter: words, state:failed, !provider:x, age>2h", "aria-label": "Filter", oninput: () => this.ask({ text: this.filter.value, page: 0 }) });
    this.fault = h("p", { class: "jc-click", role: "status" });
    this.chips = h("div", { class: "jc-chips", role: "group", "aria-label": "Phase" });
    this.all = h("input", { type: "checkbox", "aria-label": "mark all on this page", onchange: () => this.toggleAll() });
    this.heads = COLUMNS.map(([sort, words, name]) => h("th", { scope: "col", class: `jc-cell-${name}` }, button(words, () => this.sort(sort), { class: "jc-sort" })));
    this.body = h("tbody", { onkeydown: (event) => this.key(event), onfocusin: (event) => this.rove(event), onpointerenter: () => (this.isPointedAt = true), onpointerleave: () => this.release() });
    const head = h("tr", null, h("th", { scope: "col", class: "jc-cell-mark" }, this.all), ...this.heads, h("th", { scope: "col", class: "jc-cell-act" }, h("span", { class: "jc-hidden" }, "Actions")));
    this.empty = h("p", { class: "jc-empty" });
    this.range = h("span");
    this.back = button("‹", () => this.ask({ page: this.query.page - 1 }), { "aria-label": "Page before" });
    this.forth = button("›", () => this.ask({ page: this.query.page + 1 }), { "aria-label": "Next page" });
    this.marked = h("span", { class: "jc-quiet" });
    this.node = h(
      "div",
      { class: "jc-table", onkeydown: (event) => this.slash(event) },
      h("div", { class: "jc-tools" }, this.chips, h("div", { class: "jc-search" }, this.filter, this.fault)),
      h("div", { class: "jc-scroll" }, h("table", null, h("thead", null, head), this.body), this.empty),
      h("div", { class: "jc-foot" }, h("span", { class: "jc-line" }, this.back, this.range, this.forth), this.marked),
    );
    this.filter.value = this.query.text ?? "";
    this.opened = link.model.get("opened") || "";
    this.draw();
  }

  // ---- which rows --------------------------------------------------------------------------------------------------------
  page() {
    const { rows, whole } = this.link;
    if (whole.paged) return (whole.ids ?? []).map((id) => rows.get(id)).filter(Boolean);
    const found = arranged(rows.values(), this.query, this.query.text.trim() && whole.ids);
    this.found = found.length;
    this.query.page = Math.max(0, Math.min(this.query.page, Math.ceil(found.length / PAGE) - 1));
    return found.slice(this.query.page * PAGE, (this.query.page + 1) * PAGE);
  }

  /** Ask for another view of the rows. The kernel says what passes a filter; the rest is done here where all rows are. */
  ask(change) {
    this.query = { ...this.query, ...change };
    this.askedAt = performance.now();
    this.link.send({ type: "query", ...this.query });
    if (this.link.whole.paged) this.tools();
    else this.draw();
  }

  /** The kernel answered what was asked last: here, in another view, or in Python. What is still asked here stays. */
  heed() {
    const { query } = this.link.whole;
    if (query.text === this.query.text) this.askedAt = 0;
    if (this.askedAt) return;
    this.query = { ...query };
    this.filter.value = query.text;
  }

  /** What to say while the kernel has not answered what was asked of it then. */
  late(askedAt) {
    const { isLive, texts } = this.link;
    return performance.now() - askedAt > BUSY_AFTER ? (isLive ? texts.queued : this.link.warning()) : "";
  }

  sort(name) {
    this.ask({ sort: name, down: this.query.sort === name ? !this.query.down : false, page: 0 });
  }

  update(what, message) {
    const isAnswer = what === "whole" || message?.query;
    if (isAnswer) this.heed();
    if (what === "whole") this.draw();
    if (what === "patch") this.isPointedAt && !(isAnswer && message.ids) ? this.mend() : this.draw();
    if (what === "selected") this.marks();
    if (what === "tick") {
      for (const line of this.lines.values()) line.tick();
      this.tools();
    }
    if (what === "tick" || what === "click" || what === "standing") this.detail.tick();
    if (["whole", "patch", "detail"].includes(what)) this.expand();
  }

  release() {
    this.isPointedAt = false;
    this.draw();
  }

  /** New values in their places; nothing moves. */
  mend() {
    for (const [id, line] of this.lines) {
      const row = this.link.rows.get(id);
      attr(line.node, "data-gone", row ? null : "");
      if (row) line.set(row);
    }
    this.tools();
  }

  draw() {
    const rows = this.page();
    const kept = new Map();
    for (const row of rows) {
      const line = this.lines.get(row.id) ?? new Line(this, row.id);
      attr(line.node, "data-gone", null);
      line.set(row);
      kept.set(row.id, line);
    }
    for (const [id, line] of this.lines) if (!kept.has(id)) line.node.remove();
    this.lines = kept;
    this.place([...kept.values()].map((line) => line.node));
    this.marks();
    this.tools();
  }

  /** Put rows in order, moving only those that are out of place: a moved element would lose its focus. */
  place(nodes) {
    const opened = this.lines.get(this.opened)?.node;
    const wanted = nodes.flatMap((node) => (node === opened ? [node, this.expansion] : [node]));
    if (!opened) this.expansion.remove();
    const focused = document.activeElement;
    let at = this.body.firstChild;
    for (const node of wanted) {
      if (node === at) at = at.nextSibling;
      else this.body.insertBefore(node, at);
    }
    if (focused && focused !== document.activeElement && this.body.contains(focused)) focused.focus();
    if (!this.body.querySelector("tr[tabindex='0']")) attr(nodes[0] ?? this.expansion, "tabindex", "0");
  }

  tools() {
    const { whole, terms } = this.link;
    const total = whole.total ?? 0;
    const found = whole.paged ? whole.found : this.found;
    const { page, phase, sort, down } = this.query;
    this.heads.forEach((head, at) => attr(head, "aria-sort", COLUMNS[at][0] === sort ? (down ? "descending" : "ascending") : null));
    const known = Object.keys(terms.phases).filter((name) => whole.phases?.[name] || name === phase);
    const key = JSON.stringify([known, whole.phases, phase, total]);
    if (key !== this.chipKey) {
      const at = [...this.chips.children].indexOf(document.activeElement);
      const made = [this.chip("", "all", total), ...known.map((name) => this.chip(name, terms.phases[name].word, whole.phases?.[name] ?? 0))];
      this.chips.replaceChildren(...made);
      this.chipKey = key;
      if (at >= 0) made[Math.min(at, made.length - 1)].focus();
    }
    const first = page * PAGE;
    say(this.range, found ? `${first + 1}–${Math.min(first + PAGE, found)} of ${grouped(found)}` : "0");
    this.back.disabled = page <= 0;
    this.forth.disabled = first + PAGE >= found;
    this.back.hidden = this.forth.hidden = found <= PAGE;
    const late = this.askedAt && this.late(this.askedAt);
    say(this.fault, late || whole.fault);
    attr(this.fault, "data-tone", late ? null : "bad");
    const filter = [this.query.text, phase ? `state:${phase}` : ""].filter(Boolean).join(" ");
    const isTold = found || whole.fault;
    say(this.empty, isTold ? "" : total ? filled(this.link.texts.no_match, { filter, hidden: grouped(total) }) : this.link.texts.empty);
    this.empty.hidden = Boolean(isTold);
  }

  /** A phase and how many are in it; pressed, it is the only one shown. */
  chip(name, words, count) {
    const { glyph, hue } = this.link.terms.phases[name] ?? {};
    const attrs = { class: "jc-chip", "aria-pressed": String(this.query.phase === name), style: hueOf(hue) };
    const made = button("", () => this.ask({ phase: name, page: 0 }), attrs);
    made.append(glyph ? h("span", { class: "jc-glyph", "aria-hidden": "true" }, glyph) : "", words, h("span", { class: "jc-count" }, grouped(count)));
    return made;
  }

  // ---- marks, focus, details -----------------------------------------------------------------------------------------------
  toggle(id) {
    const marked = new Set(this.link.model.get("selected"));
    if (!marked.delete(id)) marked.add(id);
    this.choose(marked);
  }

  toggleAll() {
    const marked = new Set(this.link.model.get("selected"));
    for (const id of this.lines.keys()) this.all.checked ? marked.add(id) : marked.delete(id);
    this.choose(marked);
  }

  choose(marked) {
    this.link.set("selected", [...marked]);
    this.marks();
  }

  marks() {
    const marked = new Set(this.link.model.get("selected"));
    for (const [id, line] of this.lines) {
      line.mark.checked = marked.has(id);
      attr(line.node, "aria-selected", String(marked.has(id)));
    }
    const here = [...this.lines.keys()].filter((id) => marked.has(id)).length;
    this.all.checked = here > 0 && here === this.lines.size;
    this.all.indeterminate = here > 0 && here < this.lines.size;
    say(this.marked, `${marked.size} marked${marked.size ? " · .selected, .df()" : ""}`);
  }

  open(id, isAct = false) {
    this.opened = id === this.opened && !isAct ? "" : id;
    this.wantsFocus = isAct;
    this.openedAt = performance.now();
    setTimeout(() => this.expand(), BUSY_AFTER + 10);
    this.link.whole.detail = null;
    this.link.set("opened", this.opened);
    this.place([...this.lines.values()].map((line) => line.node));
    this.expand();
    if (!this.opened) this.lines.get(id)?.node.focus();
  }

  expand() {
    for (const [id, line] of this.lines) attr(line.name, "aria-expanded", String(id === this.opened));
    const { detail } = this.link.whole;
    const isHere = detail && detail.id === this.opened;
    this.detail.node.hidden = !isHere;
    say(this.waiting, isHere ? "" : this.late(this.openedAt));
    if (!isHere) return;
    this.detail.set(detail);
    if (this.wantsFocus) this.detail.options.list.querySelector("button:not(:disabled), a")?.focus();
    this.wantsFocus = false;
  }

  rove(event) {
    const row = event.target.closest("tr[data-id]");
    if (!row) return;
    for (const line of this.lines.values()) attr(line.node, "tabindex", line.node === row ? "0" : "-1");
    this.focusId = row.dataset.id;
  }

  slash(event) {
    if (event.key === "/" && !/input|select/i.test(event.target.tagName)) {
      event.preventDefault();
      this.filter.focus();
    } else if (event.key === "Escape" && (this.filter.value || this.query.phase) && event.target === this.filter) {
      this.filter.value = "";
      this.ask({ text: "", phase: "", page: 0 });
    } else if (event.key === "Escape" && this.opened) {
      this.open(this.opened);
    }
  }

  key(event) {
    const row = event.target.closest("tr[data-id]");
    if (!row || event.target !== row) return;
    const ids = [...this.lines.keys()];
    const at = ids.indexOf(row.dataset.id);
    const moves = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: ids.length - 1 };
    if (event.key in moves) this.lines.get(ids[Math.max(0, Math.min(ids.length - 1, moves[event.key]))]).node.focus();
    else if (event.key === "Enter") this.open(row.dataset.id);
    else if (event.key === " ") this.toggle(row.dataset.id);
    else return;
    event.preventDefault();
  }
}
