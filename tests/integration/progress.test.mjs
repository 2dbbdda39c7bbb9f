// Progress of long commands: one line with an estimate on a terminal's standard error, taken away at the end, and
// nothing at all elsewhere. A library in front of the C library makes the program's monotonic clock run a hundred
// thousand times as fast, so that short work is long.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ANYBODY, BIN, writ } from '../support/js/gateway.mjs';
import { call, keptLedger } from '../support/js/kept.mjs';
import { startTerminal } from '../support/js/terminal.mjs';

const sanitized = process.env.WRIT_SANITIZED !== undefined && 'a sanitizer wants to be the first library';
let folder, fast, world;
const at = (name) => join(folder, name);

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-progress-'));
  writeFileSync(at('fast.c'), `
    #define _GNU_SOURCE
    #include <sys/syscall.h>
    #include <time.h>
    #include <unistd.h>
    int clock_gettime(clockid_t id, struct timespec *ret)
    {
        int result = (int)syscall(SYS_clock_gettime, id, ret);
        if (id == CLOCK_MONOTONIC) {
            __int128 ns = ((__int128)ret->tv_sec * 1000000000 + ret->tv_nsec) * 100000;
            ret->tv_sec = (time_t)(ns / 1000000000);
            ret->tv_nsec = (long)(ns % 1000000000);
        }
        return result;
    }`);
  fast = at('fast.so');
  const cc = spawnSync('cc', ['-shared', '-fPIC', '-o', fast, at('fast.c')], { encoding: 'utf8' });
  assert.equal(cc.status, 0, cc.stderr);
});
after(() => rmSync(folder, { recursive: true }));

/** A ledger of calls that are kept, and a configuration for them. */
function ledger() {
  if (world) return world;
  const path = keptLedger(folder, Array.from({ length: 60 }, (_, n) => call({ n })));
  writeFileSync(at('writ.json'), JSON.stringify({ listen: '127.0.0.1:0', store: path, keys: at('keys'),
    agents: [ANYBODY], issuer: 'i', upstreams: { up: { http: 'http://127.0.0.1:1/mcp' } },
    tools: { 'up/pay': { scope: 's', arguments: [{ arg: 'n', op: 'le', value: 100 }] } } }), { mode: 0o600 });
  const run = (args) => {
    const { code, out, err } = writ(args);
    assert.equal(code, 0, err);
    return out;
  };
  writeFileSync(at('trusted'), run(['ledger', 'key', path, '--keys', at('keys')]));
  writeFileSync(at('bundle'), run(['ledger', 'export', path, '--keys', at('keys')]));
  const boundary = JSON.parse(run(['ledger', 'list', path, '--json'])).decisions[0].boundary_id;
  world = { path, config: at('writ.json'), boundary };
  return world;
}

/** Runs it with the fast clock: standard error is the terminal, standard output a file. Gives both, and the code. */
async function watched(t, args) {
  const out = at('out');
  const command = ['sh', '-c', `LD_PRELOAD=${fast} exec "$@" >${out}`, 'sh', resolve(BIN), ...args];
  const terminal = await startTerminal(t, command, { columns: 120 });
  const code = await terminal.ended;
  return { code, text: terminal.text, out: readFileSync(out, 'utf8') };
}

const COMMANDS = {
  'ledger verify': (w) => ['ledger', 'verify', w.path, '--keys', at('keys')],
  'ledger export of a run': (w) => ['ledger', 'export', w.path, w.boundary],
  'ledger export of a bundle': (w) => ['ledger', 'export', w.path, '--keys', at('keys')],
  'verify bundle': () => ['verify', 'bundle', at('bundle'), '--key', at('trusted')],
  'policy replay': (w) => ['policy', 'replay', w.config, w.path],
  'policy learn': (w) => ['policy', 'learn', w.config, w.path, '--least', '1'],
};

for (const [name, args] of Object.entries(COMMANDS)) {
  test(`${name} shows its progress with an estimate, and takes it away`, { skip: sanitized }, async (t) => {
    const plain = writ(args(ledger()));
    const { code, text } = await watched(t, args(ledger()));
    assert.equal(code, plain.code, text);
    const unit = name === 'verify bundle' ? 'MiB' : 'records';
    assert.match(text, new RegExp(`\\r\\d+ of \\d+ ${unit}, \\d+ %, about \\d+ (s|min|h \\d+ min) left\\x1b\\[K`));
    assert.ok(text.lastIndexOf('\r\x1b[K') > text.lastIndexOf(` ${unit}`), 'the line is taken away');
  });
}

test('nothing is shown with --json, at once, or without a terminal', { skip: sanitized }, async (t) => {
  const { path } = ledger();
  const json = await watched(t, ['ledger', 'verify', path, '--json']);
  assert.equal(json.text, '');
  JSON.parse(json.out);
  const slow = await startTerminal(t, [resolve(BIN), 'ledger', 'verify', path]);
  await slow.ended;
  assert.doesNotMatch(slow.text, / of \d+ records,/);
  const piped = writ(['ledger', 'verify', path], { env: { ...process.env, LD_PRELOAD: fast } });
  assert.equal(piped.err, '');
});
