// checker.mjs - what must hold after a fleet run, whatever failed in it. It knows the effects at the tool server, what
// the clients and the voter sent and received, and the records that the ledger exported. It asks no gateway.
//
//   evidence.effects  { n, tool, args, decision_id, key, agent } in the order of the tool server
//   evidence.calls    { id, tool, agent, key, boundary, args, final, answers } of each call; final is one of FINALS;
//                     answers: { kind: 'result' | 'refused' | 'broken', said, reason, decision_id, first_decision_id,
//                     first_outcome }
//   evidence.votes    { review, vote } of each vote that was sent
//   evidence.records  { leaf, kind, record } of the whole log
//   evidence.verify   the answer of `writ ledger verify --json`
//   evidence.bundle   how `writ verify bundle` ended, over the exported records: { code, out }
//   evidence.budget   the most that the effects of `spend` may amount to
import { createHash } from 'node:crypto';

export const FINALS = ['ran', 'refused', 'unknown'];

// Of refusals: those after which no try under the same key may run.
const RAN = (answer) => answer.kind === 'result' || (answer.reason === 'duplicate_outcome' &&
  answer.first_outcome === 'executed');
const UNKNOWN = new Set(['duplicate_outcome', 'interrupted_execution_unknown']);
const REFUSED = new Set(['budget_exceeded', 'approval_rejected']);

/** What an answer decides for its call; undefined: the client tries again. */
export function finalOf(answer) {
  if (RAN(answer)) return 'ran';
  if (answer.kind !== 'refused') return undefined;
  return UNKNOWN.has(answer.reason) ? 'unknown' : REFUSED.has(answer.reason) ? 'refused' : undefined;
}

// Arguments of the run are flat objects of ASCII texts and small integers: their canonical form is this.
const sorted = (args) => Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1));
const canonical = (args) => JSON.stringify(Object.fromEntries(sorted(args)));
const digest = (args) => `sha256:${createHash('sha256').update(canonical(args)).digest('hex')}`;

/** The outcome proves that nothing ran, so that its claim and its budget are free again. */
const neverRan = (outcome) => outcome.outcome === 'blocked' ||
  (outcome.outcome === 'error' && outcome.error_type === 'not_sent');

function byKey(list, key) {
  const map = new Map();
  for (const item of list) map.set(key(item), [...(map.get(key(item)) ?? []), item]);
  return map;
}

/** The records, arranged. */
function read(evidence) {
  const records = evidence.records.toSorted((a, b) => a.leaf - b.leaf);
  const of = (kind) => records.filter((r) => r.kind === kind).map(({ leaf, record }) => ({ leaf, ...record }));
  const decisions = of('decision'), outcomes = of('outcome'), reviews = of('review');
  return { records, decisions, outcomes, reviews,
    decision: new Map(decisions.map((d) => [d.decision_id, d])),
    outcomesOf: byKey(outcomes, (o) => o.decision_id) };
}

const RULES = {
  /** The log has every leaf once, and its own verification finds nothing. */
  log({ records }, { verify, bundle }, report) {
    records.forEach(({ leaf }, at) => { if (leaf !== at) report('leaf_missing', `leaf ${leaf} at place ${at}`); });
    if (verify.sound !== true || verify.problem_count !== 0) report('ledger_unsound', JSON.stringify(verify));
    if (bundle.code !== 0) report('bundle_unsound', bundle.out);
    if (verify.records !== records.length) report('leaf_missing', `${records.length} of ${verify.records} exported`);
  },

  /** Each run numbers its decisions 0, 1, 2, ... in the order of the log. */
  seq({ decisions }, _, report) {
    for (const [run, list] of byKey(decisions, (d) => `${d.extensions?.writ?.tenant}/${d.boundary_id}`)) {
      list.forEach((d, at) => {
        if (d.seq !== at || d.running_count !== at + 1) report('seq_gap', `${run}: seq ${d.seq} in place ${at}`);
      });
    }
  },

  /** One outcome for each decision that ended its call, after it in the log. */
  outcomes({ decisions, outcomes, outcomesOf, decision }, _, report) {
    for (const d of decisions) {
      const n = (outcomesOf.get(d.decision_id) ?? []).length;
      if (n === 0 && d.decision !== 'require_approval') report('outcome_missing', `${d.decision} ${d.decision_id}`);
      if (n > 1) report('outcome_twice', d.decision_id);
    }
    for (const o of outcomes) {
      const d = decision.get(o.decision_id);
      if (!d || d.leaf > o.leaf) report('outcome_early', `outcome ${o.decision_id} at leaf ${o.leaf}`);
    }
  },

  /** Each effect has its own allow, of this call; each call and each allow has at most one effect. */
  effects({ decision, outcomesOf }, { effects, calls }, report) {
    const call = new Map(calls.map((c) => [c.id, c]));
    for (const e of effects) {
      const d = decision.get(e.decision_id), c = call.get(e.args.id);
      if (d?.decision !== 'allow' || d.tool !== e.tool || d.params_hash !== digest(e.args) || d.agent_id !== e.agent ||
          d.idempotency_key !== e.key) {
        report('effect_without_allow', `effect ${e.n} of ${e.args.id}: ${d?.decision ?? 'no record'} ${e.decision_id}`);
      }
      if (c?.tool !== e.tool || c.agent !== e.agent || c.key !== e.key || canonical(c.args) !== canonical(e.args)) {
        report('effect_not_asked', `effect ${e.n} of ${e.args.id}`);
      }
      for (const o of outcomesOf.get(e.decision_id) ?? []) {
        if (neverRan(o)) report('effect_denied_by_outcome', `effect ${e.n}: ${o.outcome} ${o.error_type}`);
      }
    }
    for (const [name, key] of [['call', (e) => e.args.id], ['allow', (e) => e.decision_id]]) {
      for (const [id, list] of byKey(effects, key)) if (list.length > 1) report('effect_twice', `${name} ${id}`);
    }
  },

  /** An allow that recorded `executed` has its effect. */
  executed({ decisions, outcomesOf }, { effects }, report) {
    const ran = new Set(effects.map((e) => e.decision_id));
    for (const d of decisions.filter((one) => one.decision === 'allow' && !ran.has(one.decision_id))) {
      if ((outcomesOf.get(d.decision_id) ?? []).some((o) => o.outcome === 'executed')) {
        report('outcome_without_effect', d.decision_id);
      }
    }
  },

  /** A key is claimed again only after an outcome that proves that nothing ran. */
  claims({ decisions, outcomesOf }, _, report) {
    const allows = decisions.filter((d) => d.decision === 'allow');
    for (const [key, list] of byKey(allows, (d) => `${d.agent_id}/${d.tool}/${d.idempotency_key}`)) {
      list.slice(1).forEach((d, at) => {
        const freed = (outcomesOf.get(list[at].decision_id) ?? []).some((o) => neverRan(o) && o.leaf < d.leaf);
        if (!freed) report('claimed_twice', `${key}: ${list[at].decision_id}, then ${d.decision_id}`);
      });
    }
  },

  /** The budget holds at every leaf, and refuses only what it cannot take. */
  budget({ records, decision }, { effects, budget, calls }, report) {
    const spent = effects.filter((e) => e.tool === 'spend').reduce((sum, e) => sum + e.args.amount, 0);
    if (spent > budget) report('budget_overspent', `${spent} of ${budget}`);
    const amount = new Map(calls.map((c) => [c.key, c.args.amount]));
    let used = 0;
    for (const { leaf, kind, record } of records) {
      if (kind === 'decision' && record.tool === 'spend') {
        const wants = amount.get(record.idempotency_key);
        if (record.decision === 'allow') used += wants;
        if (used > budget) report('budget_overspent', `${used} of ${budget} at leaf ${leaf}`);
        if (record.extensions?.writ?.reason === 'budget_exceeded' && used + wants <= budget) {
          report('budget_lost', `${wants} refused with ${used} of ${budget} used, at leaf ${leaf}`);
        }
      }
      if (kind === 'outcome' && neverRan(record)) {
        const d = decision.get(record.decision_id);
        if (d?.decision === 'allow' && d.tool === 'spend') used -= amount.get(d.idempotency_key);
      }
    }
  },

  /** A call of the reviewed tool is allowed by one accepted review, once. */
  approvals({ decisions, reviews }, { votes }, report) {
    const events = byKey(reviews, (r) => r.decision_id);
    const allows = decisions.filter((d) => d.decision === 'allow' && d.tool === 'grant');
    for (const d of allows) {
      const review = events.get(d.continuation_id) ?? [];
      if (!review.some((r) => r.event === 'accept' && r.leaf < d.leaf)) report('approval_missing', d.decision_id);
      if (!votes.some((v) => v.review === d.continuation_id && v.vote === 'approve')) {
        report('approval_missing', `${d.decision_id}: no voter approved ${d.continuation_id}`);
      }
    }
    for (const [id, list] of byKey(allows, (d) => d.continuation_id)) {
      if (list.length > 1) report('approval_twice', id);
    }
    for (const [id, list] of events) {
      if (list.filter((r) => r.event === 'redeem').length > 1) report('approval_twice', id);
      list.forEach((r, at) => { if (r.n !== at) report('review_gap', `${id}: event ${r.n} in place ${at}`); });
    }
  },

  /** What clients were told is so. */
  answers({ decision }, { effects, calls }, report) {
    const of = byKey(effects, (e) => e.args.id);
    for (const c of calls) {
      const ran = of.get(c.id) ?? [];
      if (!FINALS.includes(c.final)) report('call_unfinished', `${c.id}: ${JSON.stringify(c.answers.at(-1))}`);
      if (c.final === 'ran' && ran.length === 0) report('answer_without_effect', c.id);
      if (c.final === 'refused' && ran.length > 0) report('refused_and_ran', c.id);
      const finals = new Set(c.answers.map(finalOf).filter((f) => f !== undefined));
      if (finals.has('refused') && finals.size > 1) report('answers_differ', `${c.id}: ${[...finals]}`);
      for (const a of c.answers) {
        if (a.kind === 'result' && !ran.some((e) => a.said === `effect ${e.n}`)) {
          report('answer_without_effect', `${c.id}: ${a.said}`);
        }
        for (const id of [a.decision_id, a.first_decision_id]) {
          if (id !== undefined && !decision.has(id)) report('decision_lost', `${c.id}: ${a.reason} ${id}`);
        }
      }
    }
  },
};

/** Every violation, as { rule, what, detail }. */
export function check(evidence) {
  const log = read(evidence), found = [];
  for (const [rule, holds] of Object.entries(RULES)) {
    holds(log, evidence, (what, detail) => found.push({ rule, what, detail }));
  }
  return found;
}
