// Elements, bars and signs. Only this file makes elements; text goes in as text content, never as markup (U3).

/** An element. `attrs`: attributes, `on…` listeners, `class`; children are nodes or texts; null is left out. */
function h(tag, attrs, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** Foreign text: its direction touches nothing beside it. */
const foreign = (text, attrs) => h("bdi", attrs, text ?? "");

/** Write only what differs, so that a selection of text and a screen reader's place survive. */
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function attr(node, name, value) {
  if (value === null || value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** `{name}` in a sentence of texts.py. */
const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));

/** `1,204`. */
const grouped = (number) => number.toLocaleString("en");

const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** The colour of a phase as the variable that the style sheet draws with. */
const hueOf = (hue) => `--jc-hue:var(--jc-hue-${(hue ?? "queued").replace("_", "-")})`;

/** Sign and word of a phase: colour only stands beside them (U4). */
function phaseMark(terms, phase) {
  const known = terms.phases[phase] ?? { glyph: "?", word: phase, hue: "queued" };
  return h(
    "span",
    { class: "jc-phase", style: hueOf(known.hue) },
    h("span", { class: "jc-glyph", "aria-hidden": "true" }, known.glyph),
    known.word,
  );
}

/** A budget (blocks that fill up) or a progress (one line); the figures stand beside it. */
class Bar {
  constructor(kind, label) {
    this.fill = h("span", { class: "jc-fill" });
    this.node = h("span", { class: `jc-bar jc-${kind}`, role: "img", "aria-label": label }, this.fill);
    this.label = label;
  }

  set(share, words) {
    const shown = Math.max(0, Math.min(1, share));
    this.fill.style.width = `${(shown * 100).toFixed(2)}%`;
    attr(this.node, "data-full", shown >= 1 ? "spent" : shown >= 0.8 ? "near" : null);
    attr(this.node, "aria-label", `${this.label}: ${words}`);
  }
}

/** A button; `label` is what is read aloud where the words on it are not enough. */
function button(words, onclick, attrs) {
  return h("button", { type: "button", class: "jc-button", onclick, ...attrs }, words);
}

/** Buttons rest while nothing can be chosen, and say why; and while a click is under way. */
function bar(node, why, click) {
  for (const each of node.querySelectorAll("button")) {
    each.disabled = why || click?.isOver === false;
    each.title = why;
  }
}
