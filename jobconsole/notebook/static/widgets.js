// The widgets: what each consists of, the line that tells the connection, and the entry that anywidget calls.

/** What all have: own colours, a status line, an aria-live region, keys that stop here. */
class Frame {
  constructor(link, el) {
    this.link = link;
    this.live = h("span", { class: "jc-live" });
    this.warning = h("p", { class: "jc-warning", role: "status" });
    this.spoken = h("div", { class: "jc-hidden", "aria-live": "polite" });
    const [Widget, title] = { table: [Table, "Operations"], inbox: [Inbox, "Inbox"], dashboard: [Dashboard, "jobconsole"], timeline: [Timeline, "Timeline"], progress: [Progress, "Progress"] }[link.kind];
    const bar = h("div", { class: "jc-topbar" }, h("span", { class: "jc-title" }, title), this.live);
    // JupyterLab looks at keys before any element does: the attribute tells it to leave those in here alone.
    this.root = h("div", { class: "jobconsole", "data-lm-suppress-shortcuts": "true", onkeydown: (event) => event.stopPropagation() }, bar, this.warning);
    el.append(this.root);
    this.body = new Widget(link);
    this.root.append(this.body.node, this.spoken);
    this.host = new Host(this.root, link.palettes);
    this.stop = link.listen((what, data) => this.update(what, data));
    this.standing();
  }

  update(what, data) {
    if (what === "tick") this.host.dress();
    if (["tick", "standing", "pulse", "whole", "patch"].includes(what)) this.standing();
    if (what === "moved") say(this.spoken, `${data.name ?? data.id}: ${this.link.terms.phases[data.phase].word}${data.say ? `, ${data.say}` : ""}`);
    if (what !== "moved") this.body.update(what, data);
  }

  standing() {
    const { link } = this;
    const words = { live: "● live", connecting: "◌ connecting", lost: "○ not connected", closed: "○ closed" }[link.standing];
    say(this.live, `${words} · as of ${clock(link.now())} UTC`);
    attr(this.root, "data-standing", link.standing);
    say(this.warning, link.warning());
    this.picture();
  }

  /** The still picture is hidden as soon as the widget knows more, which it still does when it has lost its kernel. */
  picture() {
    const picture = document.getElementById(this.link.model.get("view_id"));
    const output = picture?.closest(".jp-OutputArea-child") ?? picture;
    if (output) output.style.display = this.link.wasLive ? "none" : ""; // hosts overrule the attribute hidden
  }

  close() {
    this.stop();
    this.root.remove();
  }
}

/** Tabs over one connection; only the one that is shown is drawn. */
class Dashboard {
  constructor(link) {
    this.link = link;
    this.table = new Table(link);
    this.parts = { Operations: this.table, Inbox: new Inbox(link), Timeline: new Lanes(link, (id) => this.open(id)), Audit: new Audit(link) };
    this.tabs = Object.keys(this.parts).map((name) => button(name, () => this.show(name), { class: "jc-tab", role: "tab", onkeydown: (event) => this.key(event, name) }));
    this.panels = Object.values(this.parts).map((part) => h("div", { role: "tabpanel" }, part.node));
    this.node = h("div", { class: "jc-dashboard" }, h("div", { role: "tablist", class: "jc-tabs" }, ...this.tabs), ...this.panels);
    this.show("Operations");
    this.badge();
  }

  show(name) {
    this.shown = name;
    Object.keys(this.parts).forEach((each, at) => {
      attr(this.tabs[at], "aria-selected", String(each === name));
      attr(this.tabs[at], "tabindex", each === name ? "0" : "-1");
      this.panels[at].hidden = each !== name;
    });
    this.parts[name].update("whole");
  }

  key(event, name) {
    const names = Object.keys(this.parts);
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    const at = (names.indexOf(name) + move + names.length) % names.length;
    this.show(names[at]);
    this.tabs[at].focus();
  }

  open(id) {
    this.show("Operations");
    this.table.ask({ text: "", phase: "", page: 0 });
    this.table.filter.value = "";
    if (this.table.opened !== id) this.table.open(id, true);
  }

  update(what, data) {
    this.parts[this.shown].update(what, data);
    if (what === "patch" || what === "whole") this.badge();
  }

  badge() {
    const now = this.link.now();
    const items = (this.link.whole.items ?? []).filter((item) => item.kind === "decision" && !(item.rests > now)).length + (this.link.whole.others ?? 0);
    say(this.tabs[1], items ? `Inbox ${items}` : "Inbox");
    attr(this.tabs[1], "data-asks", items ? "" : null);
  }
}

class Audit {
  constructor(link) {
    this.link = link;
    this.list = h("ol", { class: "jc-story", tabindex: "0" });
    this.node = h("div", { class: "jc-audit" }, this.list);
  }

  update(what, message) {
    if (what === "whole" || (what === "patch" && message?.audit)) this.draw();
  }

  draw() {
    const lines = this.link.whole.audit ?? [];
    const none = h("li", { class: "jc-empty" }, this.link.texts.no_audit);
    this.list.replaceChildren(...(lines.length ? lines.map(([at, id, text]) => storyLine(at, text, this.link.at, this.link.rows.get(id)?.name ?? shortId(id))) : [none]));
  }
}

class Timeline {
  constructor(link) {
    this.link = link;
    this.head = h("div");
    this.attempts = new Attempts(link);
    this.list = h("ol", { class: "jc-story", tabindex: "0", "aria-label": "Requests, the last first" });
    this.node = h("div", { class: "jc-timeline" }, this.head, this.attempts.node, this.list);
    this.update("whole");
  }

  update(what) {
    const { detail } = this.link.whole;
    if (what === "tick") this.attempts.tick();
    if (!["whole", "patch"].includes(what)) return;
    if (detail.gone) return this.head.replaceChildren(`${detail.id}: ${this.link.texts.gone}`);
    this.head.replaceChildren(headline(this.link, detail.row));
    this.attempts.set(detail);
    this.list.replaceChildren(...detail.attempts.map((each) => storyLine(each.at, this.attempts.words(each), detail.row.began)).reverse());
  }
}

class Progress {
  constructor(link) {
    this.link = link;
    this.detail = new Detail(link, null);
    this.node = h("div", { class: "jc-progress-widget" }, this.detail.node);
    this.detail.set(link.whole.detail);
    this.detail.attempts.node.hidden = true;
  }

  update(what) {
    if (["whole", "patch"].includes(what)) this.detail.set(this.link.whole.detail);
    if (["tick", "click", "standing"].includes(what)) this.detail.tick();
  }
}

// One link for a model, one frame for each of its views.
export default () => {
  let link;
  return {
    initialize({ model }) {
      link = new Link(model);
      return () => link.close();
    },
    render({ el }) {
      const frame = new Frame(link, el);
      return () => frame.close();
    },
  };
};
