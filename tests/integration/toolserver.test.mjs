// include/writ/verify.h as a third party has it: an installation, pkg-config, a compiler.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { flags, install, installed, must } from '../support/installation.mjs';

const source = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const SKIP = /asan|tsan/.test(process.env.WRIT_BUILD_DIR ?? '') && 'a plain program cannot load sanitized libraries';
const TOKEN = /```text\n(\S+)\n/.exec(readFileSync(join(source, 'docs/credentials.md'), 'utf8'))[1];
const JWKS = /```json\n(\{"keys".*)\n/.exec(readFileSync(join(source, 'docs/credentials.md'), 'utf8'))[1];
const AUD = 'http://127.0.0.1:9000/mcp';
const ISS = 'https://gateway.example.com';
const ARGUMENTS = '{"currency":"EUR","amount":1.25e1,"to":"DE89370400440532013000"}';

let folder, prefix, program, libraries;
before(() => {
  if (SKIP) return;
  folder = mkdtempSync(join(tmpdir(), 'writ-toolserver-'));
  prefix = join(folder, 'prefix');
  install(process.env.WRIT_BUILD_DIR, prefix);
  libraries = dirname(installed(prefix, /libwrit-verify\.so$/));
  program = join(folder, 'tool_server');
  must('cc', ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-o', program,
    join(source, 'examples/tool-server/tool_server.c'), ...flags(prefix, 'writ-verify')]);
});
after(() => folder && rmSync(folder, { recursive: true }));

function run(lines, { jwks = JWKS, aud = AUD, iss = ISS, now = 1782363630 } = {}) {
  const keys = join(folder, 'jwks.json');
  writeFileSync(keys, jwks);
  const ran = spawnSync(program, [keys, aud, iss], { encoding: 'utf8', input: lines.map((l) => `${l}\n`).join(''),
    env: { LD_LIBRARY_PATH: libraries, TOOL_SERVER_NOW: String(now) } });
  return { code: ran.status, lines: ran.stdout.trimEnd().split('\n'), err: ran.stderr };
}
const first = (...args) => run(...args).lines[0].split(':')[0];

test('a program of others is built with pkg-config alone, and runs a call once', { skip: SKIP }, () => {
  const call = `transfer\t${ARGUMENTS}\t${TOKEN}`;
  assert.deepEqual(run([call, call]).lines,
    ['ok: transfer for batch', 'replayed: the credential was used before']);
});

test('it gives the first reason against what is not good', { skip: SKIP }, () => {
  const call = `transfer\t${ARGUMENTS}\t${TOKEN}`;
  assert.equal(first([`transfer\t${ARGUMENTS}`]), 'missing_credential');
  assert.equal(first([`transfer\t${ARGUMENTS}\t${TOKEN}x`]), 'malformed');
  assert.equal(first([call], { jwks: '{"keys":[]}' }), 'unknown_key');
  assert.equal(first([`transfer\t${ARGUMENTS}\t${TOKEN.replace(/.{4}$/, 'AAAA')}`]), 'bad_signature');
  assert.equal(first([call], { iss: `${ISS}/` }), 'wrong_issuer');
  assert.equal(first([call], { aud: 'http://127.0.0.1:9001/mcp' }), 'wrong_audience');
  assert.equal(first([call], { now: 1782363599 }), 'not_yet_valid');
  assert.equal(first([call], { now: 1782363660 }), 'expired');
  assert.equal(first([`refund\t${ARGUMENTS}\t${TOKEN}`]), 'scope_mismatch');
  assert.equal(first([`transfer\t{}\t${TOKEN}`]), 'args_mismatch');
  assert.equal(first([`transfer\t[]\t${TOKEN}`]), 'no answer');
  assert.equal(first([`transfer\t{"a":1,"a":2}\t${TOKEN}`]), 'no answer');
  assert.equal(run([call], { jwks: '{"keys":[{"kty":"oct","k":"AAAA"}]}' }).code, 1);
});
