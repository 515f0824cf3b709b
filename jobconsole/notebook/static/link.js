// The connection to the kernel, one for all views of a widget: what it told, whether it still lives, and what was clicked.

const BEAT = 5 * SECOND; // feed.py
const MISSED = 3;
const BUSY_AFTER = 150; // ms without a sign that a message was handled: a cell is running

class Link {
  constructor(model) {
    this.model = model;
    this.kind = model.get("kind");
    this.terms = JSON.parse(model.get("terms"));
    this.texts = this.terms.texts;
    this.palettes = JSON.parse(model.get("theme"));
    this.rows = new Map();
    this.whole = {};
    this.clicks = new Map();
    this.views = new Set();
    this.stop = [
      this.on("change:snapshot", () => this.take(JSON.parse(model.get("snapshot")))),
      this.on("change:pulse", () => this.beat()),
      this.on("change:selected", () => this.tell("selected")),
      this.on("msg:custom", (message) => this.hear(message)),
      this.on("comm_live_update", () => this.lose("lost")), // a message takes it back
    ];
    this.pulse = JSON.parse(model.get("pulse"));
    this.standing = "connecting";
    this.take(JSON.parse(model.get("snapshot")));
    const isFresh = Math.abs(Date.now() - this.at) < 4 * BEAT;
    if (isFresh) this.heard();
    else this.send({ type: "hello" });
    this.born = performance.now();
    this.timer = setInterval(() => this.tick(), SECOND);
  }

  on(event, listener) {
    this.model.on(event, listener);
    return () => this.model.off(event, listener);
  }

  close() {
    clearInterval(this.timer);
    for (const stop of this.stop) stop();
  }

  // ---- the kernel's clock and life ---------------------------------------------------------------------------------------
  /** The kernel's clock; where the kernel is gone, the moment of what is shown. */
  now() {
    return this.isLive ? Date.now() + this.offset : this.at;
  }

  get isLive() {
    return this.standing === "live";
  }

  heard(at = this.at) {
    this.lastHeard = performance.now();
    this.offset = at - Date.now();
    if (this.standing === "closed") return;
    const was = this.standing;
    this.standing = "live";
    this.wasLive = true;
    if (was !== "live") this.tell("standing");
  }

  beat() {
    this.pulse = JSON.parse(this.model.get("pulse"));
    this.heard(this.pulse.now);
    this.at = Math.max(this.at, this.pulse.now); // no news up to here: what is shown is as of now
    this.tell("pulse");
  }

  lose(standing) {
    if (this.standing === standing || this.standing === "closed") return;
    this.standing = standing;
    for (const click of this.clicks.values())
      if (!click.text) Object.assign(click, { isOver: true, ok: false, text: this.texts.unanswered });
    this.tell("standing");
  }

  tick() {
    const silent = performance.now() - (this.lastHeard ?? this.born);
    if (this.standing !== "lost" && silent > MISSED * BEAT + SECOND) this.lose("lost");
    if (!document.hidden) this.tell("tick");
  }

  /** What to say about the connection; empty while all is well. */
  warning() {
    const { texts } = this;
    if (!this.isLive) return filled(texts[this.standing], { at: clock(this.at) });
    if (this.pulse.why_not) return filled(texts.read_only, { why: this.pulse.why_not });
    return this.pulse.worker ? "" : texts.no_worker;
  }

  /** Why nothing can be chosen; empty while it can. */
  get barred() {
    return this.isLive && !this.pulse.why_not ? "" : this.warning();
  }

  // ---- what it tells -----------------------------------------------------------------------------------------------------
  hear(message) {
    if (message.type === "closed") return this.lose("closed");
    if (message.type === "got" || message.type === "answer") {
      this.heard(Date.now() + (this.offset ?? 0));
      return this.answered(message);
    }
    if (message.type === "snapshot") {
      this.take(message);
      return this.heard(message.now);
    }
    if (message.type === "why") return this.asker && say(this.asker.why, message.text);
    if (message.type === "detail") {
      this.whole.detail = message.detail;
      return this.tell("detail");
    }
    if (message.type !== "rows_patch" || message.sequence <= this.sequence) return undefined;
    if (message.sequence !== this.sequence + 1) return this.send({ type: "hello" }); // something was missed
    this.patch(message);
    return this.heard(message.now);
  }

  take(snapshot) {
    if (snapshot.sequence < this.sequence) return;
    this.whole = snapshot;
    this.rows = new Map((snapshot.rows ?? []).map((row) => [row.id, row]));
    this.sequence = snapshot.sequence;
    this.at = snapshot.now;
    this.tell("whole");
  }

  patch(message) {
    this.sequence = message.sequence;
    this.at = message.now;
    const was = message.rows?.map((row) => this.rows.get(row.id)?.phase);
    for (const id of message.gone ?? []) this.rows.delete(id);
    for (const row of message.rows ?? []) this.rows.set(row.id, row);
    const { type, sequence, now, rows, gone, ...rest } = message;
    Object.assign(this.whole, rest);
    this.tell("patch", message);
    message.rows?.forEach((row, at) => was[at] && was[at] !== row.phase && this.tell("moved", row));
  }

  tell(what, data) {
    for (const view of [...(this.views ?? [])]) view(what, data);
  }

  listen(view) {
    this.views.add(view);
    return () => this.views.delete(view);
  }

  // ---- what is asked of it -----------------------------------------------------------------------------------------------
  send(message) {
    try {
      this.model.send(message);
    } catch {
      this.lose("lost"); // the comm is gone
    }
  }

  set(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  /** The click on this operation at this revision that is not over yet, or was answered last. */
  clickOn(id, revision) {
    return this.clicks.get(`${id}@${revision}`);
  }

  /** Choose an option: several clicks for the same revision are one, and one message. */
  decide(id, option, revision, more) {
    const known = this.clickOn(id, revision);
    if (known && (!known.isOver || known.ok)) return;
    this.click(`${id}@${revision}`, { type: "decide", id, option, revision, ...more });
  }

  /** The last click about who looks after this operation's item. */
  careOf(id) {
    return this.clicks.get(`care of ${id}`);
  }

  /** Look after an item: several clicks while one is under way are one. */
  attend(id, act, more) {
    if (this.careOf(id)?.isOver !== false) this.click(`care of ${id}`, { type: "attend", id, act, ...more });
  }

  click(key, message) {
    const random = crypto.getRandomValues(new Uint8Array(16));
    const decision_id = `dec_${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    this.clicks.set(key, { decision_id, at: performance.now(), isGot: false, isOver: false });
    this.send({ ...message, decision_id });
    setTimeout(() => this.tell("click"), BUSY_AFTER);
    this.tell("click");
  }

  answered(message) {
    for (const click of this.clicks.values()) {
      if (click.decision_id !== message.decision_id) continue;
      click.isGot = true;
      if (message.type === "answer") Object.assign(click, { isOver: true, overAt: performance.now(), ok: message.ok, text: message.text });
    }
    this.tell("click");
  }

  /** The state of a click in words. */
  clickText(click) {
    const { texts } = this;
    if (click.isOver) return `${click.ok ? "✔" : "✖"} ${click.text}`;
    const waited = performance.now() - click.at;
    if (click.isGot || waited < BUSY_AFTER) return texts.deciding;
    return waited < 2 * SECOND ? texts.queued : filled(texts.queued_for, { seconds: Math.floor(waited / SECOND) });
  }
}
