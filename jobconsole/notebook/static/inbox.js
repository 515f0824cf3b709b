// The inbox: one card an item, decisions apart from looks, options one click away. Cards are keyed by id and mended in place.

class Card {
  constructor(link) {
    this.link = link;
    this.head = h("div");
    this.age = h("span", { class: "jc-age" });
    this.reason = h("p", { class: "jc-say" });
    this.lines = h("ul", { class: "jc-lines" });
    this.gauges = new Gauges(link);
    this.options = new Options(link);
    this.care = new Care(link);
    this.node = h("article", { class: "jc-card" }, h("div", { class: "jc-line jc-card-head" }, this.head, this.age), this.reason, this.gauges.node, this.lines, this.options.node, this.care.node);
  }

  set(item) {
    if (JSON.stringify(item) !== this.shown) {
      this.shown = JSON.stringify(item);
      this.item = item;
      attr(this.node, "data-kind", item.kind);
      attr(this.node, "aria-label", `${item.kind}: ${item.name ?? item.id}`);
      this.head.replaceChildren(headline(this.link, { ...item, say: null }));
      say(this.reason, item.say ?? item.reason);
      this.lines.replaceChildren(...item.lines.map((line) => h("li", null, foreign(line))));
      this.gauges.set(item);
      this.options.set(item.id, item.revision, item.options);
    }
    this.tick();
  }

  tick() {
    say(this.age, `open for ${lasting(this.link.now() - this.item.since)}`);
    this.gauges.tick();
    this.options.refresh();
    this.care.set(this.item, this.link.now());
  }
}

class Inbox {
  constructor(link) {
    this.link = link;
    this.cards = new Map();
    this.empty = h("p", { class: "jc-empty" });
    this.more = h("p", { class: "jc-quiet" });
    this.groups = { decision: h("div"), look: h("div"), snoozed: h("div") };
    this.titles = { decision: h("h4"), look: h("h4"), snoozed: h("h4") };
    const parts = Object.keys(this.groups).flatMap((name) => [this.titles[name], this.groups[name]]);
    this.node = h("div", { class: "jc-inbox" }, ...parts, this.more, this.empty);
    this.draw();
  }

  update(what) {
    if (what === "whole" || what === "patch") this.draw();
    if (["tick", "click", "standing"].includes(what)) for (const card of this.cards.values()) card.tick();
  }

  draw() {
    const items = this.link.whole.items ?? [];
    const now = this.link.now();
    const groupOf = (item) => (item.rests > now ? "snoozed" : item.kind);
    const kept = new Map();
    for (const item of items) {
      const card = this.cards.get(item.id) ?? new Card(this.link);
      card.set(item);
      kept.set(item.id, card);
      const group = this.groups[groupOf(item)];
      if (card.node.parentNode !== group) group.append(card.node);
    }
    for (const [id, card] of this.cards) if (!kept.has(id)) this.part(card);
    this.cards = kept;
    const count = (name) => items.filter((item) => groupOf(item) === name).length;
    say(this.titles.decision, count("decision") ? `${counted(count("decision"), "decision")} to make` : "");
    say(this.titles.look, count("look") ? `${counted(count("look"), "thing")} to see` : "");
    say(this.titles.snoozed, count("snoozed") ? `${grouped(count("snoozed"))} snoozed` : "");
    say(this.more, this.link.whole.others ? `+ ${grouped(this.link.whole.others)} more` : "");
    const watched = counted(this.link.whole.watched ?? 0, "operation");
    say(this.empty, items.length ? "" : filled(this.link.texts.inbox_empty, { watched }));
  }

  /** An answered card stays for a moment with its answer, so that the click is seen to have done something. */
  part(card) {
    const click = card.options.answer;
    if (!click?.ok) return card.node.remove();
    card.options.list.remove();
    card.lines.remove();
    card.care.node.remove();
    attr(card.node, "data-answered", "");
    return setTimeout(() => card.node.remove(), 6 * SECOND);
  }
}
