// Calls to learn rules from, calls that are wrong on purpose, and how many of either a learned policy refuses. The
// same seed gives the same calls.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WRIT = process.env.WRIT_BIN;

/** Numbers from 0 to 1 (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return {
    next,
    below,
    pick: (list) => list[below(list.length)],
    // the first ones of a list often, the last ones seldom
    zipf: (list) => list[Math.min(list.length - 1, Math.floor(list.length ** next()) - 1)],
    // many small values, few large ones
    skewed: (most) => Math.floor(most ** next()),
    chance: (p) => next() < p,
  };
}

const WORDS = ('the report of last week shows that most calls were made by two agents and the rest came from tests ' +
  'while the index grew slowly until a new build removed old files and every team wrote its own summary ' +
  'again').split(' ');
const text = (r, words) => Array.from({ length: words }, () => r.pick(WORDS)).join(' ');
const IBANS = Array.from({ length: 40 }, (_, i) =>
  `DE${String(10 + i)}37040044053201${String(3000 + i * 7).padStart(4, '0')}`);
const NAMES = ['index', 'main', 'util', 'parse', 'server', 'client', 'report', 'notes', 'plan', 'draft', 'config',
  'schema', 'query', 'table', 'style'];
const ENDS = ['.c', '.h', '.md', '.json', '.yaml', '.ts'];

/** The files of a project: some hundreds, in folders of several depths. */
function project(r) {
  const folders = ['', 'src', 'src/net', 'src/store', 'src/store/disk', 'test', 'test/unit', 'docs',
    'docs/api', 'scripts'];
  return Array.from({ length: 600 }, (_, i) =>
    ['/srv/work/shop', r.zipf(folders.slice(1)), `${r.pick(NAMES)}${i}${r.pick(ENDS)}`].join('/'));
}

/** What one run of an agent does: an agent that works on files, as clients of the file server do it, and one in an
 * office: payments, mail, the web, a ticket system. */
function fileRun(r, files, add) {
  const mine = Array.from({ length: 12 }, () => r.zipf(files));
  const folder = (path) => path.slice(0, path.lastIndexOf('/'));

  add('fs/list_allowed_directories', {});
  for (let i = 5 + r.below(25); i > 0; i--) {
    const path = r.pick(mine);
    const kind = r.next();
    if (kind < 0.45) {
      add('fs/read_text_file', r.chance(0.2) ? { path, head: 10 + r.skewed(500) } : { path });
    } else if (kind < 0.55) {
      add('fs/read_multiple_files', { paths: Array.from({ length: 1 + r.skewed(8) }, () => r.pick(mine)) });
    } else if (kind < 0.65) {
      add('fs/list_directory', { path: r.chance(0.3) ? '/srv/work/shop' : folder(path) });
    } else if (kind < 0.72) {
      add('fs/search_files', { path: folder(path), pattern: `*${r.pick(NAMES)}*`,
        ...(r.chance(0.4) ? { excludePatterns: ['node_modules', '.git'].slice(0, 1 + r.below(2)) } : {}) });
    } else if (kind < 0.9) {
      add('fs/edit_file', { path, dryRun: r.chance(0.2),
        edits: Array.from({ length: 1 + r.skewed(4) }, () => ({
          oldText: text(r, 2 + r.skewed(30)), newText: `${text(r, 2 + r.skewed(40))}\n`,
        })) });
    } else {
      add('fs/write_file', { path: `${folder(path)}/${r.pick(NAMES)}${r.below(100000)}${r.pick(ENDS)}`,
        content: `${text(r, 5 + r.skewed(900))}\n` });
    }
  }
}

function officeRun(r, add) {
  const day = `2026-${String(1 + r.below(12)).padStart(2, '0')}-${String(1 + r.below(28)).padStart(2, '0')}`;
  for (let i = 3 + r.below(12); i > 0; i--) {
    const kind = r.next();
    if (kind < 0.2) {
      add('pay/transfer', { to: r.zipf(IBANS),
        amount: Math.round(100 * (5 + r.skewed(2400))) / 100 + r.below(100) / 100,
        currency: r.zipf(['EUR', 'USD', 'CHF']), date: day, note: `INV-${10000 + r.below(80000)}` });
    } else if (kind < 0.4) {
      add('mail/send', { to: Array.from({ length: 1 + r.skewed(4) }, () =>
          `${r.pick(NAMES)}.${r.pick(WORDS)}@${r.zipf(['shop.example', 'partner.example', 'supplier.example'])}`),
        subject: text(r, 2 + r.below(6)), body: `${text(r, 10 + r.skewed(200))}\n\n${text(r, 3)}` });
    } else if (kind < 0.7) {
      const host = r.zipf(['docs', 'api', 'www', 'status', 'blog']);
      add('web/fetch', { url: `https://${host}.shop.example/${r.pick(NAMES)}/${r.below(1e6)}`,
        max_length: r.pick([1000, 5000, 10000]) });
    } else if (kind < 0.9) {
      add('tickets/update', { id: `SHOP-${1 + r.below(9000)}`, status: r.zipf(['open', 'doing', 'review', 'done']),
        ...(r.chance(0.5) ? { fields: { points: 1 + r.skewed(8),
          labels: Array.from({ length: r.below(3) }, () => r.zipf(['bug', 'web', 'db', 'ui'])) } } : {}) });
    } else {
      add('tickets/search', { query: text(r, 1 + r.below(4)), limit: r.pick([10, 20, 50]),
        cursor: r.chance(0.3) ? `00000000-0000-4000-8000-${String(r.below(1e12)).padStart(12, '0')}` : null });
    }
  }
}

/** Honest calls, run by run: { tool, arguments, boundary_id }. */
export function traffic(seed, runs) {
  const r = randomOf(seed);
  const files = project(randomOf(7));
  const calls = [];
  for (let run = 0; run < runs; run++) {
    const add = (tool, args) => calls.push({ agent: 'dev', tool, arguments: args, boundary_id: `run-${run}` });
    if (r.chance(0.6)) fileRun(r, files, add);
    else officeRun(r, add);
  }
  return calls;
}

// ---- calls that are wrong on purpose

/** Every value of the arguments: the path to it, and the value. */
function* leaves(value, path = []) {
  if (value !== null && typeof value === 'object') {
    if (path.length > 0) yield [path, value];
    for (const [key, child] of Object.entries(value)) {
      yield* leaves(child, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  } else {
    yield [path, value];
  }
}

function changed(args, path, with_) {
  const copy = structuredClone(args);
  const last = path.at(-1);
  path.slice(0, -1).reduce((at, key) => at[key], copy)[last] = with_;
  return copy;
}

const place = (call, path) => `${call.tool} ${path.map((key) => (typeof key === 'number' ? '*' : key)).join('/')}`;
const isPath = (value) => typeof value === 'string' && /^\/[^/]/.test(value);
const isUrl = (value) => typeof value === 'string' && /^https?:\/\//.test(value);
const isAddress = (value) => typeof value === 'string' && /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value);

/** The least and the greatest number of each place, of all honest calls. */
export function rangesOf(calls) {
  const ranges = new Map();
  for (const call of calls) {
    for (const [path, value] of leaves(call.arguments)) {
      if (typeof value !== 'number') continue;
      const key = place(call, path);
      const [least, greatest] = ranges.get(key) ?? [value, value];
      ranges.set(key, [Math.min(least, value), Math.max(greatest, value)]);
    }
  }
  return ranges;
}

/** The wrong calls that one honest call gives: { kind, call }. */
export function* mutants(call, ranges) {
  const wrong = (kind, args) => ({ kind, call: { ...call, arguments: args } });
  const object = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

  yield wrong('extra member', { ...call.arguments, force: true });
  for (const [path, value] of leaves(call.arguments)) {
    const put = (kind, with_) => wrong(kind, changed(call.arguments, path, with_));
    if (object(value)) yield put('extra member', { ...value, onBehalfOf: 'root' });
    if (typeof value === 'number') {
      const [least, greatest] = ranges.get(place(call, path));
      yield put('out of range', Math.ceil(Math.abs(greatest)) * 10 + 1);
      yield put('out of range', Math.floor(least) - Math.ceil(Math.abs(least)) * 10 - 1);
    }
    if (isPath(value)) {
      yield put('foreign path', '/etc/passwd');
      yield put('foreign path', `/home/dev${value}`);
      yield put('foreign path', `${value}/../../../../../../../../root/.ssh/id_rsa`);
      yield put('foreign path', value.replace(/^\/([^/]+)\/([^/]+)/, '/$1/$2-old'));
    }
    if (isUrl(value)) {
      const { host, pathname } = new URL(value);
      yield put('foreign host', `https://collect.evil.test${pathname}`);
      yield put('foreign host', `https://${host}.evil.test${pathname}`);
      yield put('foreign host', `https://${host}@evil.test${pathname}`);
    }
    if (isAddress(value)) {
      yield put('foreign host', `${value.split('@')[0]}@evil.test`);
      yield put('foreign host', `${value}.evil.test`);
    }
    if (value !== null) yield put('wrong type', typeof value === 'string' ? { text: value } : String(value));
  }
}

// ---- learning and judging

/** Halves of the runs, by the seed. */
export function halves(calls, seed) {
  const r = randomOf(seed);
  const side = new Map();
  const halves = [[], []];
  for (const call of calls) {
    if (!side.has(call.boundary_id)) side.set(call.boundary_id, r.below(2));
    halves[side.get(call.boundary_id)].push(call);
  }
  return halves;
}

const CONFIG = (upstreams) => `listen: 127.0.0.1:8700
issuer: https://gateway.example.com
keys: keys
store: sqlite://ledger.db
agents:
  - {id: dev, tenant: acme, role: operator,
     bearer_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
upstreams:
${upstreams.map((name) => `  ${name}: {http: "http://127.0.0.1:9000/mcp"}`).join('\n')}
tools: {}
`;

/** Learns from calls, and applies the difference to a configuration in `folder`, which is emptied. */
export function learn(calls, folder, more = []) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const upstreams = [...new Set(calls.map((call) => call.tool.split('/')[0]))];
  writeFileSync(join(folder, 'writ.yaml'), CONFIG(upstreams));
  writeFileSync(join(folder, 'calls.jsonl'), calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 };
  const report = JSON.parse(execFileSync(WRIT,
    ['policy', 'learn', 'writ.yaml', '--calls', 'calls.jsonl', '--json', ...more], options));
  for (const file of report.files) execFileSync('patch', ['-p0', '-s'], { ...options, input: file.diff });
  return report;
}

/** Which of the calls the configuration in `folder` refuses. */
export function judged(calls, folder) {
  const refused = [];
  for (let at = 0; at < calls.length; at += 8000) {
    const some = calls.slice(at, at + 8000);
    writeFileSync(join(folder, 'judge.json'), JSON.stringify({ config: 'writ.yaml',
      cases: some.map((call) => ({ call: { agent: call.agent, tool: call.tool, arguments: call.arguments },
        expect: 'allow' })) }));
    let output;
    try {
      output = execFileSync(WRIT, ['policy', 'test', 'judge.json', '--json'],
        { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      if (error.status !== 1) throw error;
      output = error.stdout;
    }
    JSON.parse(output).results.forEach((result, i) => {
      if (!result.passed) refused.push({ ...some[i], verdict: result.verdict });
    });
  }
  return refused;
}

/** Those that are not refused: only what a wrong call has wrong shall be why it is refused. */
export const allowed = (calls, refused) => {
  const texts = new Set(refused.map(({ verdict, ...call }) => JSON.stringify(call)));
  return calls.filter((call) => !texts.has(JSON.stringify(call)));
};

/** Learned from one half: which share of the other half is refused, and of wrong calls, by kind, that are made of those
 * that are not. */
export function measure(calls, seed, folder, more = []) {
  const [half, other] = halves(calls, seed);
  const ranges = rangesOf(calls);
  const report = learn(half, folder, more);
  const refused = judged(other, folder);
  const wrong = allowed(other, refused).flatMap((call) => [...mutants(call, ranges)]);
  const stopped = judged(wrong.map((one) => ({ ...one.call, kind: one.kind })), folder);
  const kinds = {};
  for (const { kind } of wrong) (kinds[kind] ??= { of: 0, refused: 0 }).of++;
  for (const { kind } of stopped) kinds[kind].refused++;
  return { learned: half.length, honest: { of: other.length, refused: refused.length }, refused,
    wrong: { of: wrong.length, refused: stopped.length }, kinds, report };
}

export const read = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
