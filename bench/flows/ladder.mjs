#!/usr/bin/env node
// Replays the recorded tasks and attacks of vectors/flows under one policy after the other, and prints the table of
// ../flows.md.
//
//     bench/flows/ladder.mjs [--writ=PROGRAM] [--rows=A,B]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCE = join(HERE, '../..');
const DATA = join(SOURCE, 'vectors/flows/agentdojo');
const SUITES = readdirSync(DATA, { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name).sort();

const any = [{ arg: '', op: 'type', value: 'any' }];
const reviewed = {
  reviewers: { owner: { key: { kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' } } },
  reviews: { owner: { voters: [{ id: 'owner' }] } } };

/** The tools that the honest tasks of a suite use, with any arguments. */
function allowlist(suite) {
  const names = readFileSync(join(HERE, 'allowlist', `${suite}.yaml`), 'utf8').match(/^ {2}[a-z]+\/\w+/gm);
  return { tools: Object.fromEntries(names.map((name) =>
    [name.trim(), { scope: suite, duplicates: 'allow', arguments: any }])) };
}

/** The same with what can be said of arguments whatever the task is. */
const STATIC = {
  'banking/send_money': { amount: { op: 'le', value: 2500 }, recipient: { op: 'max_length', value: 34 } },
  'banking/schedule_transaction': { amount: { op: 'le', value: 2500 }, recipient: { op: 'max_length', value: 34 } },
  'banking/update_password': { password: { op: 'min_length', value: 8 } },
  'slack/get_webpage': { url: { op: 'matches', value: '(https?://)?www\\.[a-z0-9-]+\\.com(/[a-z]*)?' } },
  'slack/post_webpage': { url: { op: 'eq', value: 'www.our-company.com' } },
  'slack/invite_user_to_slack': { user_email: { op: 'matches', value: '[a-z.]+@gmail\\.com' } },
  'workspace/share_file': { permission: { op: 'eq', value: 'r' } },
};

function fixed(suite) {
  const policy = allowlist(suite);
  for (const [name, rules] of Object.entries(STATIC)) {
    if (policy.tools[name] === undefined) continue;
    policy.tools[name] = { ...policy.tools[name], arguments: [...any,
      ...Object.entries(rules).map(([arg, rule]) => ({ arg, ...rule, optional: true }))] };
  }
  return policy;
}

/** After an untrusted result, whatever changes something is held. Only what no one else writes is trusted. */
function taint(suite) {
  const trusted = { banking: ['get_iban', 'get_balance', 'get_user_info'], slack: ['get_channels', 'get_users_in_channel'],
    travel: ['get_all_hotels_in_city', 'get_hotels_prices', 'get_hotels_address', 'get_all_restaurants_in_city',
      'get_flight_information', 'get_all_car_rental_companies_in_city', 'get_car_price_per_day'],
    workspace: ['get_current_day', 'search_contacts_by_name'] }[suite];
  const { tools } = JSON.parse(readFileSync(join(DATA, suite, 'tools.json'), 'utf8'));
  const changing = tools.filter((tool) => !tool.annotations.readOnlyHint || tool.annotations.openWorldHint);
  const policy = { ...allowlist(suite), ...reviewed,
    flows: [{ tools: changing.map((tool) => `${suite}/${tool.name}`), after: ['untrusted'],
      approval: { review: 'owner' } }] };
  for (const name of trusted) {
    const rule = policy.tools[`${suite}/${name}`];
    if (rule !== undefined) rule.labels = { integrity: 'trusted' };
  }
  return policy;
}

const written = (suite) => readFileSync(join(HERE, `${suite}.yaml`), 'utf8');

/** Each row: what it is, its policy, and how the task reaches the gateway. */
export const ROWS = {
  allowlist: { what: 'list of tools', policy: allowlist, task: [], says: 'nothing' },
  static: { what: 'static rules on arguments', policy: fixed, task: [], says: 'nothing' },
  taint: { what: 'taint of the run', policy: taint, task: [], says: 'nothing' },
  provenance: { what: 'provenance', policy: written, task: ['--task-meta'], says: 'its text' },
  grant: { what: "provenance and the task's tools", policy: written, task: ['--hook', join(HERE, 'hook.mjs')],
    says: 'text and tools' },
};

/** The counts of all suites together under one row. */
export function replay(name, writ) {
  const row = ROWS[name];
  const folder = mkdtempSync(join(tmpdir(), 'writ-ladder-'));
  try {
    for (const suite of SUITES) {
      const policy = row.policy(suite);
      writeFileSync(join(folder, `${suite}.yaml`), typeof policy === 'string' ? policy
        : Object.entries(policy).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join(''));
    }
    const json = join(folder, 'counts.json');
    const run = spawnSync(process.execPath, [join(HERE, 'replay.mjs'), '--writ', writ, '--data', DATA, '--policy',
      join(folder, '{suite}.yaml'), '--runs', '--json', json, ...row.task], { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(run.stdout + run.stderr);
    return JSON.parse(readFileSync(json, 'utf8')).suites;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sum = (suites, of) => suites.reduce((n, suite) => n + of(suite), 0);
const share = (n, all) => `${n} of ${all} (${(100 * n / all).toFixed(1)} %)`;

/** One line of the table. */
export function line(name, suites) {
  const pairs = sum(suites, (s) => s.pairs.all), tasks = sum(suites, (s) => s.tasks.all);
  const attacked = sum(suites, (s) => s.runs.attacked.all), honest = sum(suites, (s) => s.runs.benign.all);
  return `| ${[ROWS[name].what, ROWS[name].says,
    share(sum(suites, (s) => s.pairs.attack_succeeds), pairs),
    share(sum(suites, (s) => s.attacker_calls.acts_reached), sum(suites, (s) => s.attacker_calls.acts)),
    share(sum(suites, (s) => s.tasks.held), tasks), sum(suites, (s) => s.tasks.refused),
    share(sum(suites, (s) => s.runs.attacked.attack_succeeds), attacked),
    share(sum(suites, (s) => s.runs.benign.held), honest), sum(suites, (s) => s.runs.benign.refused)].join(' | ')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { writ: { type: 'string', default: 'build/dev/writ' },
    rows: { type: 'string', default: Object.keys(ROWS).join(',') } } });
  for (const name of values.rows.split(',')) console.log(line(name, replay(name, resolve(values.writ))));
}
