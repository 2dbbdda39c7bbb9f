// The examples of the pages below work as each page shows.
//
// A comment before a fenced block says what to do with it:
//   <!-- file: NAME -->    put the block into the file NAME; a configuration has to pass writ check
//   <!-- run -->           run it with sh; it must end with 0, or with N of <!-- run N -->
//   <!-- output -->        what the run before printed; a `...` stands for anything within a line
//   <!-- serve -->         run it until the end of the page; what follows waits until it is ready
//   <!-- not run: WHY -->  leave it alone
// After a line <!-- with: bindings -->, blocks to the end of the section need the packages of bindings/: a build
// without them leaves those alone.
// A block of sh or yaml has to have one. The blocks of a page share one new folder, in which
// `writ`, `node`, `tool-server` (examples/), the npm packages of the tests and of bindings/, certs/ and config/ are
// at hand. On a page that serves, loopback ports are others than the page says: free ones; but a line
// <!-- keep: HOST:PORT --> leaves that one as it is.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, symlinkSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { until } from '../support/js/gateway.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { TOOL_SERVER } from '../support/servers/tool-server.mjs';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const BIN = resolve(process.env.WRIT_BIN ?? 'build/dev/writ');
const NPM = join(SOURCE, 'tests/support/npm/node_modules');
const BINDINGS = join(dirname(BIN), 'bindings');
// a README.md each, and all pages of the first two
const FOLDERS = ['', 'docs/', 'bindings/', 'certs/', 'config/', 'docker/'];
const JUDGED = 'docs/policy.md'; // its yaml is run by config.test.mjs

// What the pages say of limits, and the constant that each row is about.
const LIMITS = {
  'docs/receipts.md': {
    'a note (checkpoint, cosigned or not), in bytes': ['core/evidence/log/note.h', 'WRIT_NOTE_BYTES_MAX'],
    'signature lines of a note': ['core/evidence/log/note.h', 'WRIT_NOTE_SIGNATURES_MAX'],
    'the name of a key, in bytes': ['core/evidence/log/note.h', 'WRIT_NOTE_NAME_MAX'],
    'a key as text (vkey), in bytes': ['core/evidence/log/note.h', 'WRIT_NOTE_KEY_TEXT_MAX'],
    'keys of a file of trusted keys': ['cli/commands/trust.h', 'WRIT_TRUST_KEYS_MAX'],
    'a file with a receipt, in bytes': ['core/evidence/proof/receipt.h', 'WRIT_RECEIPT_BYTES_MAX'],
    'records of a receipt': ['core/evidence/proof/receipt.h', 'WRIT_RECEIPT_RECORDS_MAX'],
    'a record, in bytes': ['core/evidence/record/member.h', 'WRIT_RECORD_MAX_BYTES'],
    'a line of a bundle, in bytes': ['core/evidence/proof/bundle.h', 'WRIT_BUNDLE_LINE_MAX'],
    'runs of a bundle, and calls of it, that are open at one time': ['core/evidence/proof/bundle_live.h',
      'WRIT_BUNDLE_LIVE_MAX'],
    'a time stamp (response), in bytes': ['core/evidence/log/timestamp.h', 'WRIT_TIMESTAMP_BYTES_MAX'],
    'certificates of a time-stamping authority, in bytes': ['core/evidence/log/timestamp.h', 'WRIT_TIMESTAMP_CA_MAX'],
  },
  'docs/guard.md': {
    'a message, in bytes': ['gateway/guard/guard.h', 'WRIT_GUARD_BODY_MAX'],
    'a credential, in bytes': ['core/evidence/jose/jws.h', 'WRIT_JWS_BYTES_MAX'],
    'its identifier (`jti`), in bytes': ['core/evidence/credential/credential.h', 'WRIT_CREDENTIAL_ID_MAX'],
    'its lifetime, in seconds': ['core/evidence/credential/credential.h', 'WRIT_CREDENTIAL_LIFETIME_MAX_S'],
    '`--skew`, in seconds': ['include/writ/verify.h', 'WRIT_VERIFY_SKEW_MAX_S'],
    'the set of keys that a guard fetches, in bytes': ['core/evidence/jose/jwks.h', 'WRIT_JWKS_BYTES_MAX'],
    'keys in that set': ['core/evidence/jose/jwks.h', 'WRIT_JWKS_KEYS_MAX'],
    'a status list, in bytes as the gateway signs it': ['gateway/guard/guard_run.c', 'STATUS_MAX'],
  },
};

/** The value of a constant of the source: numbers, sums, shifts, and other constants beside it. */
function constant(file, name) {
  const text = readFileSync(join(SOURCE, file), 'utf8');
  const found = text.match(new RegExp(`^#define ${name}\\s+([^\\n]*?)(?:\\s*/\\*.*)?$`, 'm'));
  assert.ok(found, `${file} defines ${name}`);
  const plain = found[1].replace(/\(size_t\)/g, '').replace(/(\d)U/g, '$1')
    .replace(/WRIT_RECORD_MAX_BYTES/g, () => constant('core/evidence/record/member.h', 'WRIT_RECORD_MAX_BYTES'));
  assert.match(plain, /^[\d\s()+*<]+$/, `${name}: ${found[1]}`);
  return Number(Function(`return ${plain}`)());
}

test('the tables of limits equal the constants', () => {
  for (const [page, rows] of Object.entries(LIMITS)) {
    const section = readFileSync(join(SOURCE, page), 'utf8').split(/^## Limits$/m)[1].split(/^## /m)[0];
    const told = Object.fromEntries([...section.matchAll(/^\| (.+) \| ([\d,]+) \|$/gm)].map(([, what, value]) =>
      [what, value]));
    const want = Object.fromEntries(Object.entries(rows)
      .map(([what, at]) => [what, constant(...at).toLocaleString('en-US')]));
    assert.deepEqual(told, want, page);
  }
});

// [{ line, what, arg, text }] of one page.
function blocks(name, text) {
  const found = [];
  for (const match of text.matchAll(
      /^(?:<!-- (file|run|output|serve|not run)(?:: ?| )?([^\n]*?) ?-->\n+)?```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const line = text.slice(0, match.index).split('\n').length;
    const [, what, arg, kind, body] = match;
    const free = !['sh', 'yaml'].includes(kind) || (name === JUDGED && kind === 'yaml');
    assert.ok(what || free, `line ${line}: a block of ${kind} without a comment`);
    if (what === 'not run') assert.ok(arg.length > 0, `line ${line}: why is it not run?`);
    const bindings = /^<!-- with: bindings -->$(?![^]*^## )/m.test(text.slice(0, match.index));
    if (what) found.push({ line, what, arg, text: body, bindings });
  }
  const marks = [...text.matchAll(/^<!-- (file|run|output|serve|not run)\b/gm)].length;
  assert.equal(found.length, marks, 'a comment has no fenced block behind it');
  return found;
}

// The page with free ports in the place of those it names.
async function withFreePorts(text) {
  const pattern = /\b(127\.0\.0\.1|localhost):(\d{2,5})\b/g;
  const ports = new Map();
  const kept = new Set([...text.matchAll(/^<!-- keep: (\S+) -->$/gm)].map((match) => match[1]));
  for (const [address, , port] of text.matchAll(pattern)) {
    if (!ports.has(port) && !kept.has(address)) ports.set(port, await reservePort());
  }
  return text.replace(pattern, (address, host, port) => (kept.has(address) ? address : `${host}:${ports.get(port)}`));
}

function matches(shown, printed) {
  const parts = shown.trimEnd().split('...').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^\\n]*')}$`).test(printed.trimEnd());
}

class Player {
  constructor(folder) {
    const path = `${join(folder, '.bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
    const env = { ...process.env, PATH: path, PYTHONPATH: join(BINDINGS, 'python'), PYTHONDONTWRITEBYTECODE: '1' };
    this.folder = folder;
    this.options = { cwd: folder, env };
    this.printed = null;
    this.servers = [];
    mkdirSync(join(folder, '.bin'));
    for (const name of ['writ', 'writ-vectors']) symlinkSync(join(dirname(BIN), name), join(folder, '.bin', name));
    symlinkSync(resolve(TOOL_SERVER), join(folder, '.bin/tool-server'));
    mkdirSync(join(folder, 'node_modules'));
    for (const name of readdirSync(NPM)) symlinkSync(join(NPM, name), join(folder, 'node_modules', name));
    symlinkSync(join(BINDINGS, 'npm'), join(folder, 'node_modules/writ'));
    for (const name of ['certs', 'config']) cpSync(join(SOURCE, name), join(folder, name), { recursive: true });
  }

  sh(text) {
    return spawnSync('sh', ['-eu', '-c', text], { ...this.options, encoding: 'utf8' });
  }

  file({ line, arg, text }) {
    writeFileSync(join(this.folder, arg), text);
    if (/\.ya?ml$/.test(arg) && /^(listen|tools|upstreams):/m.test(text)) {
      const run = this.sh(`writ check ${arg}`);
      assert.equal(run.status, 0, `line ${line}: ${run.stdout}${run.stderr}`);
    }
  }

  run({ line, arg, text }) {
    const run = this.sh(text);
    assert.equal(run.status, Number(arg || 0), `line ${line}: ${run.stdout}${run.stderr}`);
    this.printed = run.stdout;
  }

  output({ line, text }) {
    assert.ok(matches(text, this.printed), `line ${line}: printed\n${this.printed}`);
  }

  async serve({ line, text }) {
    const log = join(this.folder, `.log-${line}`);
    const child = spawn('sh', ['-eu', '-c', `exec ${text}`],
      { ...this.options, stdio: ['ignore', 'ignore', openSync(log, 'w')] });
    const server = { line, log, child, ended: once(child, 'exit') };
    this.servers.push(server);
    await until(() => child.exitCode !== null || /"event":"ready"/.test(readFileSync(log, 'utf8')), text);
    assert.equal(child.exitCode, null, `line ${line}: ${readFileSync(log, 'utf8')}`);
  }

  async end() {
    for (const { child } of this.servers) child.kill('SIGTERM');
    for (const { line, log, ended } of this.servers) {
      const [code] = await ended;
      assert.equal(code, 0, `line ${line}: ${readFileSync(log, 'utf8')}`);
    }
    rmSync(this.folder, { recursive: true });
  }
}

async function play(name) {
  let text = readFileSync(join(SOURCE, name), 'utf8');
  if (/^<!-- serve/m.test(text)) text = await withFreePorts(text);
  const player = new Player(mkdtempSync(join(tmpdir(), 'writ-docs-')));
  try {
    for (const block of blocks(name, text)) {
      if (block.what === 'not run' || (block.bindings && !existsSync(BINDINGS))) continue;
      await player[block.what](block);
    }
  } finally {
    await player.end();
  }
}

const pages = FOLDERS.flatMap((folder) => {
  const names = existsSync(join(SOURCE, folder)) ? readdirSync(join(SOURCE, folder)) : [];
  return names.filter((n) => (folder === 'docs/' || folder === '' ? n.endsWith('.md') : n === 'README.md'))
    .map((n) => folder + n);
});
for (const name of pages) test(name, () => play(name));
