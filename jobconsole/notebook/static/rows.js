// Filter and order of the rows that the browser holds: the same grammar and the same orders as in pages.py.

const FIELDS = {
  state: (row) => `${row.phase} ${row.state ?? ""}`,
  provider: (row) => row.provider,
  owner: (row) => row.owner,
  task: (row) => row.task,
  id: (row) => row.id,
};

function matches(row, text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean).every((term) => {
    const isInverted = term.startsWith("!");
    const wanted = isInverted ? term.slice(1) : term;
    const colon = wanted.indexOf(":");
    const field = colon > 0 ? FIELDS[wanted.slice(0, colon)] : undefined;
    const all = [row.id, row.name, row.provider, row.job, row.phase, row.state, row.task];
    const isFound = field
      ? (field(row) ?? "").toLowerCase().includes(wanted.slice(colon + 1))
      : all.some((each) => each?.toLowerCase().includes(wanted));
    return isFound !== isInverted;
  });
}

const RANKS = { escalated: 0, submitting: 2, waiting: 2 };

/** What needs a person first, then what should be seen, what moves, what ended. */
const rank = (row) => (row.phase in RANKS ? RANKS[row.phase] : row.asks ? 1 : 3);

const ORDERS = {
  state: (row) => [rank(row)],
  name: (row) => [(row.name ?? row.id).toLowerCase()],
  began: (row) => [row.began],
  stops: (row) => [row.ended ? 1 : 0, row.stops],
  used: (row) => [row.most ? row.used / row.most : 1],
  progress: (row) => [row.progress ?? -1],
  tried: (row) => [row.tried ?? 0],
};

function compare(one, other) {
  for (let at = 0; at < one.length; at += 1) {
    if (one[at] < other[at]) return -1;
    if (one[at] > other[at]) return 1;
  }
  return 0;
}

/** What passes the filter, in the order asked for; equal ones the newest first. */
function arranged(rows, query) {
  const key = ORDERS[query.sort] ?? ORDERS.state;
  const sign = query.down ? -1 : 1;
  return [...rows]
    .filter((row) => (!query.phase || row.phase === query.phase) && matches(row, query.text))
    .map((row) => ({ row, key: key(row) }))
    .sort((one, other) => sign * compare(one.key, other.key) || other.row.began - one.row.began)
    .map(({ row }) => row);
}
