// Times as words. All clocks are the kernel's: `link.now()` is the browser's clock, corrected by the last sign of life.

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

/** `8 s`, `3 min 05 s`, `42 min`, `2 h 05 min`, `3 d 4 h`: what has passed. */
function lasting(ms) {
  const time = Math.max(0, Math.floor(ms / SECOND)) * SECOND;
  const two = (number) => String(number).padStart(2, "0");
  if (time < MINUTE) return `${time / SECOND} s`;
  if (time < 10 * MINUTE) return `${Math.floor(time / MINUTE)} min ${two((time % MINUTE) / SECOND)} s`;
  if (time < HOUR) return `${Math.floor(time / MINUTE)} min`;
  if (time < DAY) return `${Math.floor(time / HOUR)} h ${two(Math.floor((time % HOUR) / MINUTE))} min`;
  return `${Math.floor(time / DAY)} d ${Math.floor((time % DAY) / HOUR)} h`;
}

/** `HH:MM:SS` in UTC, with the date where it is another day than `beside`. */
function clock(ms, beside) {
  const [day, time] = new Date(ms).toISOString().slice(0, 19).split("T");
  return beside !== undefined && new Date(beside).toISOString().slice(0, 10) !== day ? `${day} ${time}` : time;
}

const ago = (ms, now) => (now - ms < 2 * SECOND ? "just now" : `${lasting(now - ms)} ago`);

/** What is left counts the second that has begun, as in core/durations.py. */
const ahead = (ms, now) => (ms <= now ? "due now" : `in ${lasting(ms - now + 999)}`);

const full = (ms) => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
