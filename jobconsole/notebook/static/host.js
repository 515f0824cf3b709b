// Colours. A chosen theme file rules; else the host's background and text (JupyterLab, VS Code, system) with the hues that fit
// them. Text and background are always set as a pair, and measured: what cannot be read is replaced by the theme file's own pair.

const READABLE = 4.5;

function channels(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour);
  if (hex) return [0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16) / 255);
  const numbers = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  if (numbers.length < 3 || numbers[3] === 0) return null;
  return numbers.slice(0, 3).map((number) => (colour.startsWith("color(") ? number : number / 255));
}

function luminance(colour) {
  const parts = channels(colour);
  if (!parts) return null;
  const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [light, dark] = [luminance(one) ?? 0, luminance(other) ?? 1].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Keeps `root` in the colours of its host. Called once a second: a host may load its colours long after it named its theme. */
class Host {
  constructor(root, palettes) {
    this.root = root;
    this.palettes = palettes;
    this.dress();
  }

  dress() {
    const { chosen, light, dark } = this.palettes;
    if (chosen) return this.wear(chosen, true);
    for (const name of ["--jc-bg", "--jc-fg"]) this.root.style.removeProperty(name);
    this.root.style.colorScheme = "light dark"; // what the system prefers, where the host says nothing
    const style = getComputedStyle(this.root);
    const background = style.backgroundColor;
    const isDark = (luminance(background) ?? 1) < 0.18;
    const palette = (isDark ? dark : light) ?? light ?? dark;
    if (!palette) return;
    const colours = [style.color, ...Object.values(palette.hues)];
    this.wear(palette, colours.some((colour) => contrast(colour, background) < READABLE));
  }

  wear(palette, withPair) {
    const set = (name, value) => this.root.style.setProperty(name, value);
    for (const [hue, colour] of Object.entries(palette.hues)) set(`--jc-hue-${hue.replace("_", "-")}`, colour);
    set("--jc-primary", palette.primary);
    if (withPair) {
      set("--jc-bg", palette.background);
      set("--jc-fg", palette.foreground);
    }
    this.root.style.colorScheme = palette.dark ? "dark" : "light";
    this.root.dataset.scheme = palette.dark ? "dark" : "light";
  }
}
