// monitoring.mjs - what the tests of metrics and alerts need: certificates with a given time left, and promtool, which
// evaluates the alert rules over series that were scraped from a gateway.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE } from './gateway.mjs';

export const RULES = join(SOURCE, 'deploy/prometheus/writ.rules.yml');
export const DASHBOARD = join(SOURCE, 'deploy/grafana/writ.json');
const INTERVAL_S = 15; // between two samples of a series, as a scraper makes them

/** Writes cert.pem and key.pem to `dir`. They expire in so many days; below 0 they have expired. */
export function certificate(dir, days) {
  const openssl = (...args) => {
    const run = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' });
    if (run.status !== 0) throw new Error(run.stderr);
  };
  const at = (day) => new Date(Date.now() + day * 86_400_000).toISOString().replace(/\.\d+|[-:T]/g, '');
  writeFileSync(join(dir, 'ca.cnf'), '[ca]\ndefault_ca = own\n[own]\ndatabase = ca.index\nnew_certs_dir = .\n' +
    'rand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\n[any]\ncommonName = supplied\n');
  writeFileSync(join(dir, 'ca.index'), '');
  openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=localhost',
    '-keyout', 'key.pem', '-out', 'request.pem');
  openssl('ca', '-batch', '-selfsign', '-notext', '-config', 'ca.cnf', '-keyfile', 'key.pem', '-in', 'request.pem',
    '-startdate', at(-100), '-enddate', at(days), '-out', 'cert.pem');
}

/** promtool to its end: { code, out }. */
export function promtool(args, input = undefined) {
  const run = spawnSync('promtool', args, { encoding: 'utf8', input, env: { ...process.env, TZ: 'UTC' } });
  if (run.error) throw run.error;
  return { code: run.status, out: run.stdout + run.stderr };
}

/** The samples of a scrape: series -> text of the value. */
export function samplesOf(text) {
  return new Map(text.split('\n').filter((l) => l !== '' && !l.startsWith('#'))
    .map((l) => [l.slice(0, l.lastIndexOf(' ')), l.slice(l.lastIndexOf(' ') + 1)]));
}

/** Names of the metrics in an expression. */
export const namesIn = (expression) => [...new Set(expression.match(/\bwrit_[a-z_]+|\bup\b/g) ?? [])];

/** The alert rules: [{ alert, expr }], read with the one form that the file uses. */
export function alerts() {
  const text = readFileSync(RULES, 'utf8');
  const found = [...text.matchAll(/^ {6}- alert: (\w+)\n {8}expr: (>-\n(?: {10}.*\n)+|.*\n)/gm)];
  return found.map(([, alert, expr]) => ({ alert, expr: expr.replace(/^>-\n/, '').replace(/\s+/g, ' ').trim() }));
}

/** The expressions of the dashboard, for all gateways and over five minutes. */
export function dashboard() {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
  return panels.flatMap((p) => p.targets ?? []).map((target) =>
    target.expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));
}

const minutesOf = (history) => history.reduce((sum, [, minutes]) => sum + minutes, 0);

/** A history as the input of `promtool test rules`. It is a list of [scrape, minutes]: the text of /metrics, or '' for
 * a scrape that failed, and how long a scraper would have seen it. */
function seriesOf(history) {
  const parts = history.map(([text, minutes]) => [samplesOf(text), Math.round(minutes * 60 / INTERVAL_S)]);
  const names = new Set(parts.flatMap(([samples]) => [...samples.keys()]));
  const ofJob = (name) => (name.includes('{') ? name.replace('{', '{job="writ",') : `${name}{job="writ"}`);
  const series = [...names].map((name) => ({ series: ofJob(name),
    values: parts.map(([samples, n]) => samples.has(name) ? `${samples.get(name)}+0x${n - 1}` : `_x${n}`).join(' ') }));
  return [...series,
    { series: 'up{job="writ"}', values: parts.map(([s, n]) => `${s.size > 0 ? 1 : 0}+0x${n - 1}`).join(' ') }];
}

/** Evaluates expressions at the end of a history. Gives for each the text of its result, '' for none. */
function evaluate(history, expressions, rules = []) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-rules-'));
  try {
    const files = rules.map((text, i) => {
      writeFileSync(join(dir, `${i}.yml`), text);
      return `${i}.yml`;
    });
    writeFileSync(join(dir, 'test.yml'), JSON.stringify({ rule_files: files, evaluation_interval: '1m', tests: [{
      interval: `${INTERVAL_S}s`, input_series: seriesOf(history),
      promql_expr_test: expressions.map((expr) => ({ expr, eval_time: `${minutesOf(history) * 60 - INTERVAL_S}s`,
        exp_samples: [] })) }] }));
    const { code, out } = promtool(['test', 'rules', join(dir, 'test.yml')]);
    if (code === 0) return expressions.map(() => '');
    // promtool compares with "none", and says what it found instead
    const found = new Map([...out.matchAll(/expr: "((?:[^"\\]|\\.)*)",[^\n]*\n\s*exp:\s*nil\s*\n?\s*got:([^\n]*)/g)]
      .map(([, expr, got]) => [JSON.parse(`"${expr}"`), got]));
    if (found.size === 0) throw new Error(out);
    return expressions.map((expr) => found.get(expr) ?? '');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Which alerts fire at the end of a history, sorted. The rules have their own times; with `replace`, [text, text], a
 * threshold is another one, which a test can reach. */
export function firing(history, { replace = ['', ''] } = {}) {
  const text = readFileSync(RULES, 'utf8');
  if (!text.includes(replace[0])) throw new Error(`no rule has ${replace[0]}`);
  const [got] = evaluate(history, ['count by (alertname) (ALERTS{alertstate="firing"})'],
    [text.replace(replace[0], () => replace[1])]);
  return [...new Set([...got.matchAll(/alertname="(\w+)"/g)].map((m) => m[1]))].sort();
}

/** Which of the expressions have no result at the end of a history. */
export function absent(expressions, history) {
  const got = evaluate(history, expressions.map((expr) => `count(${expr})`));
  return expressions.filter((_, i) => got[i] === '');
}
