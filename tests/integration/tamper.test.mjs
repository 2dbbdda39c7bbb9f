// Every table, column and file of an installation, edited while no gateway runs. `writ ledger verify` finds each edit,
// or the edit keeps the gateway from starting or granting, or it changes nothing that a caller or a voter can see. The
// table of docs/security-limits.md lists the other edits, and this test reads it there.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SOURCE, bearer, startGateway, writ } from '../support/js/gateway.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { POSTGRES, SQLITE_ONLY, copyLedger, editRows, rowsOf } from '../support/js/store.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const TOOLS = ['pay', 'read', 'ask', 'pinned',
  'greet'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
const [CLERK, STOPPED, ANN, ROOT] = ['clerk', 'stopped', 'ann', 'root'].map((id) => bearer(id, { tenant: 'acme' }));
const QUESTION = { name: { method: 'elicitation/create',
  params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } } } };
const OWN = new Set(['writ.yaml']); // the operator's files; the rest is the program's

const config = (up) => ({
  agents: [CLERK, STOPPED, ANN, ROOT].map((a) => a.entry), administrators: ['root'], content_readers: ['root'],
  defaults: { contents: { keep: '30d', results: '64KiB' } },
  upstreams: { up: { http: up.url } },
  pool: { entries: 10 },
  reviews: { owner: { voters: [{ id: 'ann' }] } }, ledger: { scrub_every: '1h' },
  tools: {
    'up/pay': { ...ANY, budgets: [{ per: ['agent'], window: '24h', calls: 2 }] },
    'up/read': { ...ANY, duplicates: 'replay' },
    'up/ask': { ...ANY, approval: { review: 'owner' } }, 'up/pinned': { ...ANY, pin: true }, 'up/greet': ANY,
  },
});

/** All files below a folder, by their path in it. */
function files(dir, below = '') {
  return readdirSync(join(dir, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? files(dir, path) : [path];
  });
}
const take = (dir) => files(dir)
  .map((path) => ({ path, bytes: readFileSync(join(dir, path)), mode: statSync(join(dir, path)).mode & 0o777 }));
/** The files of an installation as they are, and a function that makes all of it so again. */
function keep({ dir, ledgerFile }) {
  const kept = take(dir), ledger = copyLedger(ledgerFile);
  return { kept, async putBack() {
    for (const path of files(dir)) rmSync(join(dir, path));
    for (const { path, bytes, mode } of kept) {
      mkdirSync(dirname(join(dir, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(dir, path), bytes);
      chmodSync(join(dir, path), mode);
    }
    await ledger.putBack();
  } };
}

class World {
  constructor(up, gw) {
    this.up = up;
    this.gw = gw;
    this.answers = 0;
  }

  async admin(who, path, body) {
    const answer = await fetch(`http://127.0.0.1:${this.gw.adminPort}${path}`,
      { method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' }, body: body &&
        JSON.stringify(body) });
    return answer.json();
  }

  async pool(type, body) {
    const answer = await fetch(`${this.gw.origin}/v1/pool`, { method: 'POST', headers:
      { authorization: `Bearer ${CLERK.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: `pool.${type}`, ...body }) });
    return answer.json();
  }

  async call(name, key, args = {}, { who = CLERK, ...more } = {}) {
    const answer = await new Caller(this.gw, { token: who.token }).call(`up__${name}`, args,
      { key, boundary: `run of ${key}`, ...more });
    return answer.said ?? answer.reason ?? answer.text;
  }

  async ask(key) {
    const answer = await new Caller(this.gw, { token: CLERK.token }).call('up__ask', { key },
      { key, boundary: `run of ${key}` });
    return answer.error.data.continuation_id ?? answer.refusal.continuation_id;
  }

  async vote(id) {
    const { review_digest } = await this.admin(ANN, `/v1/reviews/${id}`);
    return this.admin(ANN, `/v1/reviews/${id}/vote`, { vote: 'approve', review_digest });
  }

  /** What an installation remembers: a row of every table, a stop, an accepted definition. */
  async fill() {
    const { gw } = this;
    assert.match(await this.call('pay', 'paid', { n: 1 }), /^ran/);
    assert.match(await this.call('read', 'kept', { n: 1 }), /^ran/);
    this.contents = gw.decisions().map((d) => d.decision_id);
    this.open = await this.ask('open');
    this.approved = await this.ask('approved');
    assert.equal((await this.vote(this.approved)).state, 'approved');
    for (const body of [{ content: 'one', key: 'k' }, { content: 'two', tags: ['t'] }])
      assert.equal((await this.pool('put', body)).added, true);
    this.session = await openSession(gw, { token: CLERK.token });
    assert.match((await this.session.call('up__read', { n: 2 })).said, /^ran/);
    const ended = await openSession(gw, { token: CLERK.token });
    assert.match((await ended.call('up__read', { n: 3 })).said, /^ran/);
    await ended.close();
    const modern = new Caller(gw, { token: CLERK.token, modern: true, path: '/mcp/up' });
    this.asked = await modern.call('greet', { n: 1 }, { key: 'greet' });
    assert.equal(this.asked.result.resultType, 'input_required');
    await this.admin(ROOT, '/v1/kills', { by: 'agent', value: 'stopped', reason: 'test' });
    assert.equal(await this.call('pinned', 'first', {}), 'definition_not_accepted');
    await gw.stop(); // the seen definitions are on disk
    const accepted = writ(['tools', 'accept', gw.configFile, 'up/pinned'], { cwd: gw.dir });
    assert.equal(accepted.code, 0, accepted.err);
    await gw.start();
    assert.match(await this.call('pinned', 'pinned', {}), /^ran/);
    await gw.stop();
  }

  /** What callers and voters get of it afterwards, and which calls reach the server. */
  async look() {
    const before = this.up.calls.length;
    const { gw } = this;
    this.session.gateway = gw;
    const review = await this.admin(ANN, `/v1/reviews/${this.open}`);
    const contents = [];
    for (const id of this.contents) {
      const { arguments: said, result, reason } = await this.admin(ROOT, `/v1/contents/${id}`);
      contents.push({ said, result, reason });
    }
    const modern = new Caller(gw, { token: CLERK.token, modern: true, path: '/mcp/up' });
    const told = {
      duplicate: await this.call('pay', 'paid', { n: 1 }), other: await this.call('pay', 'paid', { n: 2 }),
      replayed: await this.call('read', 'kept', { n: 1 }), stopped: await this.call('pay', 'new', {}, { who: STOPPED }),
      budget: [await this.call('pay', 'second', { n: 2 }), await this.call('pay', 'third', { n: 3 })],
      pinned: await this.call('pinned', 'again', { n: 1 }), pool: await this.pool('search', {}),
      session: (await this.session.call('up__read', { n: 2 })).said,
      review: [review.state, review.arguments], redeemed: await this.call('ask', 'approved', { key: 'approved' }),
      still: await this.call('ask', 'open', { key: 'open' }),
      greeted: (await modern.call('greet', { n: 1 },
        { key: 'greet', params: { requestState: 'asked',
          inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } } } })).said,
    };
    const calls = this.up.calls.slice(before).map((c) => `${c.name} ${JSON.stringify(c.arguments)}`);
    return JSON.stringify({ ...told, contents, calls },
      (k, v) => (typeof v === 'string' ? v.replace(/^ran \d+/, 'ran') : v));
  }

  /** Where an edit is found; 'nothing' when it has no effect, else what differs. */
  async judge(whole) {
    const { gw } = this;
    if (gw.ledger(['verify', '--keys', gw.path('keys')]).code !== 0) return 'verify';
    try {
      await gw.start();
    } catch {
      return 'start';
    }
    try {
      const now = await this.look();
      if (now === whole) return 'nothing';
      if (now.includes('"ledger_unavailable"') || now.includes('"contents_changed"')) return 'use';
      const more = JSON.parse(now).calls.filter((c) => whole !== undefined && !JSON.parse(whole).calls.includes(c));
      assert.deepEqual(more, [], `a call ran that would not have run\n${now}\nbefore: ${whole}`);
      for (const [i, shown] of Object.entries(JSON.parse(now).contents)) {
        const kept = JSON.parse(whole ?? now).contents[i];
        for (const part of ['said', 'result'])
          assert.ok(shown[part] === null || JSON.stringify(shown[part]) === JSON.stringify(kept[part]), now);
      }
      return now;
    } finally {
      await gw.stop('SIGKILL');
    }
  }
}

async function world(t) {
  const up = await startUpstream(t, { tools: TOOLS });
  up.onCall = (call) => (call.name === 'greet' && call.params.inputResponses === undefined
    ? call.json({ jsonrpc: '2.0', id: call.id,
      result: { resultType: 'input_required', inputRequests: QUESTION, requestState: 'asked' } })
    : call.text(`ran ${++w.answers} ${call.name}`));
  const gw = await startGateway(t, config(up), { prepare: (dir) => {
    const made = writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]);
    assert.equal(made.code, 0, made.err);
  } });
  const w = new World(up, gw);
  await w.fill();
  const copy = keep(gw);
  await copy.putBack();
  const whole = await w.judge();
  assert.notEqual(whole, 'verify');
  assert.notEqual(whole, 'start', gw.logText);
  return { w, gw, copy, whole };
}

/** The names in the first column of the table of trusted files. */
function believed() {
  const text = readFileSync(join(SOURCE, 'docs/security-limits.md'), 'utf8');
  const section = text.split(/^## /m).find((s) => s.startsWith('Files beside the ledger'));
  return new Set(section.split('\n').filter((l) => l.startsWith('| ')).slice(1)
    .flatMap((l) => [...l.split('|')[1].matchAll(/`([^`]+)`/g)].map((m) => m[1])));
}

const NOTICED = ['verify', 'start', 'use', 'nothing'];
const LOG = new Set(['record', 'body', 'head', 'boundary']); // columns that people read: each edit is found
const ELSEWHERE = new Set(['fact']); // has rows once history was archived: integration.retention edits them
const VERIFIED = new Set(['claim']); // where several gateways write it: an edit must not only be without effect
const quoted = (name) => `"${name}"`;
/** Another value of each type that a column can hold. */
const NUMBER = (c) => [`${c} + 1`, '0', 'NULL'];
const VALUES = POSTGRES ? {
  bigint: NUMBER,
  bytea: (c) => [`substr(${c}, 1, greatest(length(${c}) - 1, 0)) || '\\x00'::bytea`, "''::bytea", 'NULL',
    `decode(repeat('00', length(${c})), 'hex')`],
} : {
  INTEGER: NUMBER, TEXT: (c) => [`${c} || 'x'`, "''", 'NULL'],
  BLOB: (c) => [`CAST(substr(${c}, 1, length(${c}) - 1) || x'00' AS BLOB)`, `x''`, 'NULL', `zeroblob(length(${c}))`],
  ANY: (c) => [`CAST(${c} AS BLOB) || x'00'`, 'NULL'],
};
// NULL, '' and 0 are one
const differs = POSTGRES
  ? (a, b) => `${a} IS DISTINCT FROM ${b} AND NOT ` +
    `(coalesce(${a}::text, '') IN ('', '0', '\\x') AND coalesce(${b}::text, '') IN ('', '0', '\\x'))`
  : (a, b) =>
    `coalesce(${a}, 0) IS NOT coalesce(${b}, 0) AND length(coalesce(${a}, '')) + length(coalesce(${b}, '')) > 0`;

const TABLES = POSTGRES
  ? "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition " +
    "AND relnamespace = 'public'::regnamespace"
  : "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const columnsOf = (table) => (POSTGRES
  ? `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type, coalesce(array_position(i.indkey::int2[],
    a.attnum), -1) + 1 AS pk FROM pg_attribute AS a JOIN pg_index AS i ON i.indrelid = a.attrelid AND i.indisprimary
    WHERE a.attrelid = '${quoted(table)}'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
  : `SELECT name, type, pk FROM pragma_table_info('${table}')`);

/** Every edit of the database: the table, the column if it is of one, and the statement. */
function edits(ledger, said) {
  return rowsOf(ledger, TABLES).filter(({ name }) => !ELSEWHERE.has(name)).flatMap(({ name: table }) => {
    const columns = rowsOf(ledger, columnsOf(table));
    assert.ok(rowsOf(ledger, `SELECT count(*) AS n FROM ${quoted(table)}`)[0].n > 0,
      `this test puts nothing into ${table}`);
    const keys = columns.filter((c) => c.pk > 0).map((c) => quoted(c.name));
    const kinds = table === 'record' ? rowsOf(ledger, 'SELECT DISTINCT kind FROM record')
      .map((r) => ` WHERE kind = ${r.kind}`) : [''];
    const ends = POSTGRES && said.has(table) ? [''] : ['', ' DESC']; // the rest of those is tested on SQLite
    const rows = kinds.flatMap((kind) => ends.map((order) => `(${keys}) = (SELECT ${keys} ` +
      `FROM ${quoted(table)}${kind} ORDER BY ${keys.map((k) => k + order)} LIMIT 1)`));
    const changes = columns.flatMap((c) => VALUES[c.type](quoted(c.name))
      .flatMap((value) =>
        rows.map((row) =>
          ({ table, column: c.name, sql: `UPDATE ${quoted(table)} SET ${quoted(c.name)} = ${value} ` +
            `WHERE ${row} AND ${differs(quoted(c.name), value)}` }))));
    return [...changes, ...[...rows.map((row) => ` WHERE ${row}`), ''].map((where) =>
      ({ table, sql: `DELETE FROM ${quoted(table)}${where}` }))];
  });
}

test('every change of every table and column of the ledger is found', { timeout: 580_000 }, async (t) => {
  const { w, gw, copy, whole } = await world(t);
  const said = believed();
  const found = {};
  const unseen = [];
  await copy.putBack();
  for (const { table, column, sql } of edits(gw.ledgerFile, said)) {
    if (!editRows(gw.ledgerFile, sql)) continue;
    const where = await w.judge(whole);
    await copy.putBack();
    found[NOTICED.includes(where) ? where : 'believed'] = (found[NOTICED.includes(where) ? where : 'believed'] ?? 0) +
      1;
    const missed = !NOTICED.includes(where) || (LOG.has(table) && where === 'nothing') ||
      (POSTGRES && VERIFIED.has(table) && where !== 'verify' && where !== 'start');
    if (missed && !said.has(table) && !(table === 'head' && column === 'epoch' && said.has('epoch')))
      unseen.push(`${sql}\n${where}`);
  }
  assert.deepEqual(unseen, [], `before: ${whole}`);
  t.diagnostic(JSON.stringify(found));
  assert.ok(found.verify > 20 && (found.start ?? 0) + (found.use ?? 0) > 0, JSON.stringify(found));
});

const CHANGES = {
  deleted: () => undefined, emptied: () => Buffer.alloc(0), 'filled with zeros': (bytes) => Buffer.alloc(bytes.length),
  'cut in half': (bytes) => bytes.subarray(0, bytes.length >> 1), 'changed in its middle': (bytes) =>
    bytes.map((b, i) => (i === bytes.length >> 1 ? b ^ 1 : b)),
};

test('every change of every file of an installation is found', { timeout: 580_000, ...SQLITE_ONLY }, async (t) => {
  const { w, gw, copy, whole } = await world(t);
  const said = believed();
  const unseen = [];
  for (const { path, bytes, mode } of copy.kept.filter((f) => !OWN.has(f.path))) {
    for (const [what, change] of Object.entries(CHANGES)) {
      await copy.putBack();
      const changed = change(bytes);
      if (changed === undefined) rmSync(gw.path(path));
      else writeFileSync(gw.path(path), changed, { mode });
      const where = await w.judge(whole);
      if (!NOTICED.includes(where) && !said.has(path)) unseen.push(`${path} ${what}\n${where}`);
    }
  }
  assert.deepEqual(unseen, [], `before: ${whole}`);
  assert.ok(existsSync(gw.configFile));
});
