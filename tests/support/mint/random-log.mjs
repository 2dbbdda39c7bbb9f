// random-log.mjs - bundles of logs that no gateway would write: seqs that are missing, double and huge, ids that come
// again, seals of anything, records withheld or left out. Signed, so that only what is said of them can differ. The
// same for the same seed.
import { Bundle } from '../../conformance/verify.mjs';
import { H, hash } from './mint.mjs';
import { body, decision, leafHash, log, outcome, root, signed, vkey } from './mint-log.mjs';

export const KEY = vkey(log);
const plain = (value) => JSON.parse(JSON.stringify(value)); // without what is undefined

/** Whole numbers below n, of a seed. */
export function randomly(seed) {
  let at = seed;
  return (n) => {
    at = (at * 1103515245 + 12345) % 2147483648;
    return Math.floor(at / 65536) % n;
  };
}

function randomDecision(rnd, pick, time) {
  const made = pick(['allow', 'allow', 'deny', 'require_approval', 'revise']), waits = made === 'require_approval';
  const seq = pick([rnd(6), rnd(6), rnd(40), 2 ** rnd(52)]);
  const value = plain(decision({
    decision_id: `d-${rnd(12)}`, decision: made, boundary_id: pick(['a', 'b', '']), seq,
    running_count: pick([seq + 1, seq + 1, undefined]), issued_at: time(),
    expires_at: waits ? '2026-06-25T05:01:00Z' : pick([undefined, '2026-06-25T05:01:00Z', null]), continuation_id: waits
      ? 'c' : pick([undefined, 'c', null]),
    revalidate_if: made === 'revise' ? ['x'] : undefined, supersedes: pick([undefined, null, `d-${rnd(12)}`]),
    extensions: pick([undefined, { writ: { tenant: pick(['t', 'u', '']) } }, { writ: 7 }]),
  }));
  if (rnd(8) === 0) for (const name of ['seq', 'running_count', 'decision_context_hash']) delete value[name];
  return value;
}

function randomSeal(rnd, pick, time, decisions) {
  const name = pick(['a', 'b', 'c']), mine = decisions.filter((d) => d.boundary_id === name)
    .sort((x, y) => x.seq - y.seq);
  const ids = `sha256:${hash('', ...mine.map((d) => d.decision_id)).toString('hex')}`;
  return plain({ boundary_id: name, sealed: true, total: pick([mine.length, mine.length, rnd(8), 2 ** 52]),
    seal_hash: pick([undefined, H('x'), ids, ids]), sealed_at: time() });
}

function randomRecords(rnd, pick, time) {
  const records = [], decisions = [];
  for (let n = rnd(30); n >= 0; n--) {
    const how = rnd(10);
    if (how < 4 || decisions.length === 0) {
      decisions.push(randomDecision(rnd, pick, time));
      records.push({ kind: 'decision', value: decisions.at(-1) });
    } else if (how < 7) {
      records.push({ kind: 'outcome',
        value: plain(outcome(pick(decisions),
          { completed_at: time(), ...(rnd(3) === 0 && { outcome: 'blocked', seq: undefined }) })) });
    } else if (how < 9) {
      records.push({ kind: 'seal', value: randomSeal(rnd, pick, time, decisions) });
    } else {
      records.push({ kind: 'review', value: { decision_id: pick(decisions).decision_id, n: 0, event: 'join',
        state: 'open', at: time(), review_digest: H(1) } });
    }
  }
  return records;
}

/** The text of a bundle; undefined when an outcome in it joins no decision. */
export function randomBundle(rnd) {
  const pick = (list) => list[rnd(list.length)];
  const time = () =>
    `2026-06-25T05:00:${String(rnd(60)).padStart(2, '0')}${pick(['', '.5', '.000001', '.123456789'])}Z`;
  const records = randomRecords(rnd, pick, time), leaves = records.map(({ value }) => leafHash(value));
  const select = plain({ at: pick([undefined, time(), '2027-01-01T00:00:00+01:30']) });
  const bundle = new Bundle(select, [KEY], { note: signed(body(leaves)), size: records.length, root: root(leaves) });
  const lines = bundle.begin();
  try {
    records.forEach(({ kind, value }, at) => {
      const digest = `sha256:${leaves[at].toString('hex')}`, how = rnd(12),
      { decision_id, boundary_id = '', seq = 0 } = value;
      if (how === 0) lines.push(...bundle.withhold({ of: kind, digest, decision_id, boundary_id, seq,
        tenant: value.extensions?.writ?.tenant ?? '' }));
      else lines.push(...(how === 1 ? bundle.node(0, digest) : bundle.record(kind, value)));
    });
  } catch (error) {
    if (error.message !== 'outcome_mismatch') throw error;
    return undefined;
  }
  return [...lines, ...bundle.end()].map((line) => `${line}\n`).join('');
}
