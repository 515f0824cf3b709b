// What may be chosen for one operation: buttons with cost and before → after, a second step where it matters, and what became of
// the click. Bound to the id and the revision that are shown; words that move with time are mended in place.

const SURE = { cancel: "Keep it running", replay_submit: "Do not send", close: "Keep it open", submit_again: "Do not submit" };
const sentenceCase = (words) => words.charAt(0).toUpperCase() + words.slice(1);

class Options {
  constructor(link) {
    this.link = link;
    this.node = h("div", { class: "jc-options" });
    this.note = h("p", { class: "jc-click", role: "status" });
    this.list = h("div", { class: "jc-option-list" });
    this.node.append(this.list, this.note);
  }

  set(id, revision, options, missing = []) {
    const names = options.map((option) => option.name).join();
    if (id === this.id && revision === this.revision && names === this.names) {
      options.forEach((option, at) => this.mend(this.list.children[at], option));
    } else {
      const hadFocus = this.list.contains(document.activeElement);
      if (id !== this.id) this.answer = null;
      Object.assign(this, { id, revision, names });
      this.list.replaceChildren(
        ...options.map((option) => this.card(option)),
        ...missing.map((each) => h("p", { class: "jc-missing" }, `${sentenceCase(each.title)}: ${each.why}`)),
      );
      if (hadFocus) this.list.querySelector("button, a")?.focus();
    }
    this.refresh();
  }

  card(option) {
    const words = h("span", { class: "jc-change" });
    const cost = h("span", { class: "jc-cost" });
    const act = option.name === "inspect" ? this.linkTo(option) : this.starter(option);
    const card = h("div", { class: "jc-option" }, h("div", { class: "jc-option-line" }, act, cost, words), h("p", { class: "jc-vain" }));
    this.mend(card, option);
    return card;
  }

  mend(card, option) {
    if (!card) return;
    const told = (option.change || option.effect || "").replaceAll(" → ", "\u00a0→\u00a0");
    say(card.querySelector(".jc-change"), told);
    say(card.querySelector(".jc-cost"), option.cost && option.cost !== "no request" ? option.cost : "");
    say(card.querySelector(".jc-vain"), option.vain ? `serves no purpose any more: ${option.vain}` : "");
  }

  linkTo(option) {
    if (!option.url) return h("span", { class: "jc-missing" }, "Inspect: the contract names no console");
    return h("a", { class: "jc-button", href: option.url, target: "_blank", rel: "noopener noreferrer" }, "Inspect ↗");
  }

  starter(option) {
    const asks = option.reason || option.name in SURE || option.name === "adopt" || (option.credentials?.length ?? 0) > 1;
    const words = sentenceCase(option.title) + (asks ? " …" : "");
    return button(words, (event) => (asks ? this.arm(option, event.currentTarget) : this.choose(option)), {
      "data-option": option.name,
      "data-danger": option.name in SURE,
    });
  }

  /** The second step, in the row: the safe button has the focus, and another click is needed. */
  arm(option, starter) {
    const card = starter.closest(".jc-option");
    if (card.querySelector(".jc-sure")) return;
    const inputs = this.inputs(option);
    const missed = h("span", { class: "jc-missed", role: "alert" });
    const go = button(sentenceCase(option.title), () => {
      const more = Object.fromEntries(inputs.map(([name, input]) => [name, input.value.trim()]));
      const empty = inputs.find(([name]) => !more[name]);
      if (empty) {
        say(missed, `${empty[2]} is needed`);
        empty[1].focus();
      } else {
        this.choose(option, more);
      }
    }, { "data-danger": true, "data-sure": option.name });
    const keep = button(SURE[option.name] ?? "Leave it", () => this.disarm(sure, starter), { "data-keep": true });
    const told = h("p", null, option.effect ?? "");
    const sure = h("div", { class: "jc-sure", role: "group", "aria-label": `${option.title}?` }, told);
    sure.append(...inputs.map(([, input, label]) => h("label", null, label, input)), h("div", { class: "jc-line" }, keep, go, missed));
    sure.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.disarm(sure, starter);
    });
    card.append(sure);
    (inputs[0]?.[1] ?? keep).focus();
  }

  /** What has to be said beside the choice: [name in the message, element, words]. */
  inputs(option) {
    const found = [];
    if (option.name === "adopt") found.push(["job_id", h("input", { type: "text", maxlength: 200 }), "Job id at the provider"]);
    if ((option.credentials?.length ?? 0) > 1) {
      const choices = option.credentials.map((each) => h("option", { value: each }, each));
      found.push(["credential", h("select", null, choices), "Credential"]);
    }
    if (option.reason) found.push(["reason", h("input", { type: "text", maxlength: 500 }), "Reason, for the audit"]);
    return found;
  }

  disarm(sure, starter) {
    sure.remove();
    starter.focus();
  }

  choose(option, more) {
    this.link.decide(this.id, option.name, this.revision, more);
  }

  /** While a click is under way nothing else can be chosen for this revision. */
  refresh() {
    const click = this.link.clickOn(this.id, this.revision) ?? this.answer;
    if (click) this.answer = click;
    bar(this.list, this.link.barred, this.link.clickOn(this.id, this.revision));
    say(this.note, click ? this.link.clickText(click) : "");
    attr(this.note, "data-tone", click?.isOver ? (click.ok ? "good" : "bad") : click ? "under-way" : null);
  }
}
