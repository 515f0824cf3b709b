// Order of the rows that the browser holds: the same orders as in pages.py. What passes a filter, Python says.

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

/** The rows with these ids, or all, that have the phase, in the order asked for; equal ones the newest first. */
function arranged(rows, query, ids) {
  const passing = ids && new Set(ids);
  const key = ORDERS[query.sort] ?? ORDERS.state;
  const sign = query.down ? -1 : 1;
  return [...rows]
    .filter((row) => (!query.phase || row.phase === query.phase) && (!passing || passing.has(row.id)))
    .map((row) => ({ row, key: key(row) }))
    .sort((one, other) => sign * compare(one.key, other.key) || other.row.began - one.row.began)
    .map(({ row }) => row);
}
