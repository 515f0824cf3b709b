// Who looks after an inbox item, and until when it rests: buttons beside its options. They answer nothing, and move no revision.

const RESTS = [["30 minutes", 1800], ["2 hours", 7200], ["1 day", 86400]];
const TOLD_FOR = 6 * SECOND;

class Care {
  constructor(link) {
    this.link = link;
    this.list = h("div", { class: "jc-line" });
    this.more = h("div", { class: "jc-line" });
    this.note = h("p", { class: "jc-click", role: "status" });
    this.node = h("div", { class: "jc-care" }, this.list, this.more, this.note);
    this.more.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.more.childNodes.length) this.close(event);
    });
  }

  set(item, now) {
    const { me } = this.link.terms;
    const has = item.with;
    const rests = item.rests > now;
    const shown = JSON.stringify([item.id, has, rests]);
    if (shown === this.shown) return this.refresh();
    const hadFocus = this.node.contains(document.activeElement);
    Object.assign(this, { shown, item });
    const claim = has === me ? ["Give back", "release"] : [has ? `Take over from ${has}` : "Claim", "claim"];
    this.list.replaceChildren(
      this.act(claim[0], () => this.do(claim[1], { shown: has ?? "" }), claim[1]),
      rests ? this.act("Wake", () => this.do("wake"), "wake") : this.act("Snooze …", () => this.askHow(), "snooze"),
      this.act("Note …", () => this.askWhat(), "note"),
    );
    this.more.replaceChildren();
    if (hadFocus) this.list.querySelector("button").focus();
    return this.refresh();
  }

  act(words, onclick, name) {
    return button(words, onclick, { "data-care": name });
  }

  askHow() {
    this.open("snooze", ...RESTS.map(([words, seconds]) => this.act(words, () => this.do("snooze", { seconds }), `rest-${seconds}`)));
  }

  askWhat() {
    const input = h("input", { type: "text", maxlength: 2000, "aria-label": "Note" });
    const write = () => (input.value.trim() ? this.do("note", { text: input.value.trim() }) : input.focus());
    input.addEventListener("keydown", (event) => event.key === "Enter" && write());
    this.open("note", input, this.act("Write", write, "write"));
  }

  /** The second step, below the buttons; the same button closes it. */
  open(name, ...parts) {
    const isOpen = this.more.dataset.of === name && this.more.childNodes.length;
    this.more.dataset.of = name;
    this.more.replaceChildren(...(isOpen ? [] : parts));
    if (!isOpen) parts[0].focus();
  }

  close(event) {
    event.stopPropagation();
    this.more.replaceChildren();
    this.list.querySelector(`[data-care=${this.more.dataset.of}]`)?.focus();
  }

  do(act, more) {
    this.link.attend(this.item.id, act, more);
    this.more.replaceChildren();
    this.refresh();
  }

  /** While a click is under way no other can be made; what was done is said for a moment, what was refused until the next. */
  refresh() {
    const click = this.link.careOf(this.item.id);
    const isOld = click?.ok && performance.now() - click.overAt > TOLD_FOR;
    bar(this.node, this.link.barred, click);
    say(this.note, click && !isOld ? this.link.clickText(click) : "");
    attr(this.note, "data-tone", click?.isOver ? (click.ok ? "good" : "bad") : click ? "under-way" : null);
  }
}
