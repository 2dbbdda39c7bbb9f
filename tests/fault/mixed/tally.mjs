// tally.mjs - every count of a mixed load on all sides: clients, gateway, tool server, ledger. Gives what does not
// agree.

const add = (map, key, n = 1) => map.set(key, (map.get(key) ?? 0) + n);

/** Decisions and outcomes of the ledger, by id, with little memory each. */
async function ledger(records) {
  const decisions = new Map(), verdicts = new Map(), outcomes = new Map();
  for await (const { kind, record } of records()) {
    if (kind === 'decision') {
      add(verdicts, record.decision);
      decisions.set(record.decision_id, { verdict: record.decision, tool: record.tool, key: record.idempotency_key,
        reason: record.extensions?.writ?.reason, hook: record.extensions?.writ?.upstream === 'crew', outcomes: 0 });
    } else if (kind === 'outcome') {
      const decision = decisions.get(record.decision_id);
      if (decision?.verdict !== 'deny') add(outcomes, record.outcome); // the metric has none of a refusal
      if (decision) {
        decision.outcomes++;
        decision.outcome = record.outcome;
        decision.type = record.error_type;
      }
    }
  }
  return { decisions, verdicts, outcomes };
}

function compareMetrics(found, verdicts, outcomes, report) {
  for (const [name, counted] of [['writ_decisions_total', verdicts], ['writ_outcomes_total', outcomes]]) {
    for (const label of new Set([...counted.keys(), ...Object.keys(found[name] ?? {})])) {
      const [metric, records] = [found[name]?.[label] ?? 0, counted.get(label) ?? 0];
      if (metric !== records) report(`${name} ${label}: ${metric}, the ledger has ${records}`);
    }
  }
}

async function compareEffects(effects, decisions, report) {
  const ran = new Map();
  for await (const { tool, id, decision_id } of effects()) {
    const decision = decisions.get(decision_id);
    if (ran.has(id)) report(`${tool} ${id} ran twice`);
    ran.set(id, tool);
    if (decision?.verdict !== 'allow' || decision.key !== `key-${id}` || decision.tool !== tool) {
      report(`${tool} ${id} ran without a decision: ${JSON.stringify(decision)}`);
    } else {
      decision.effect = true;
      if (decision.outcome === 'blocked' || decision.type === 'not_sent') report(`${tool} ${id} ran: ${decision.type}`);
    }
  }
  for (const d of decisions.values()) {
    const most = 1, least = d.verdict === 'require_approval' ? 0 : 1;
    if (d.outcomes > most || d.outcomes < least) report(`outcomes of ${JSON.stringify(d)}`);
    if (d.outcome === 'executed' && !d.hook && !d.effect) report(`${d.tool} ${d.key}: executed, without an effect`);
  }
  return ran;
}

/** A result has its one outcome and its effect; a task that began has its effect, however it ended. */
function compareResult({ op, id }, executed, ran, report) {
  const n = executed.get(`key-${id}`) ?? 0;
  if (op !== 'job' && n !== 1) report(`${op} ${id}: a result, and ${n} executed`);
  if (op !== 'hook' && !ran.has(id)) report(`${op} ${id}: a result without an effect`);
}

async function compareAnswers(answers, decisions, ran, report) {
  const executed = new Map(), seen = new Set(), finals = {};
  let results = 0, broken = 0;
  for (const d of decisions.values()) if (d.outcome === 'executed') add(executed, d.key);
  for await (const a of answers()) {
    const final = a.ran ? 'ran' : a.broken ? `broken ${a.broken}` : a.reason ?? a.status;
    finals[`${a.op} ${final}`] = (finals[`${a.op} ${final}`] ?? 0) + 1;
    if (a.broken) broken++;
    if (a.ran) {
      results++;
      compareResult(a, executed, ran, report);
    }
    if (a.decision_id) {
      seen.add(a.decision_id);
      if (!decisions.has(a.decision_id)) report(`${a.op} ${a.id}: the ledger lacks ${a.decision_id}`);
    }
  }
  // each decision was told to a client: by its result, or by a refusal that names it
  const told = results + seen.size;
  if (decisions.size < told || decisions.size > told + broken) {
    report(`${decisions.size} decisions; clients got ${results} results, ${seen.size} refusals; ${broken} broke`);
  }
  return finals;
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Resident memory of the second quarter and of the last one, in MiB. */
function growth(memory) {
  const quarter = Math.floor(memory.length / 4);
  return [memory.slice(quarter, 2 * quarter), memory.slice(-quarter)].map((part) => median(part) / 2 ** 20);
}

/** { problems, figures }. */
export async function tally(load, options) {
  const problems = [];
  const report = (text) => { if (problems.length < 50) problems.push(text); };
  const { decisions, verdicts, outcomes } = await ledger(load.records);
  compareMetrics(load.metrics, verdicts, outcomes, report);
  const ran = await compareEffects(load.effects, decisions, report);
  const finals = await compareAnswers(load.answers, decisions, ran, report);
  const [before, after] = growth(load.memory);
  const flat = process.env.WRIT_SANITIZED || after < before * 1.15 + 8;
  if (!flat) report(`memory grew from ${before.toFixed(1)} to ${after.toFixed(1)} MiB`);
  if (load.opened !== options.sessions) report(`${load.opened} sessions of ${options.sessions}`);
  if (load.code !== 0) report(`the gateway ended with ${load.code}`);
  const requests = load.counts.reduce((sum, c) => sum + c.requests, 0);
  return { problems, figures: { requests, decisions: decisions.size, effects: ran.size, reloads: load.reloads,
    deaths: load.deaths, finals, memory: [before, after].map((m) => Number(m.toFixed(1))) } };
}
