// `writ ledger erase` at a gateway that takes long: the command waits, and says so.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN } from '../support/js/gateway.mjs';

const LINES = 7; // more than the 30 s after which other requests of commands fail

/** A listener that answers when told, and an erase there. */
async function erase(t, ...options) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-'));
  const server = http.createServer((request, response) => request.resume().on('end', () => {
    server.emit('asked', response);
  })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true });
  });
  writeFileSync(join(dir, 'token'), 'a-token\n', { mode: 0o600 });
  const asked = once(server, 'asked');
  const child = spawn(BIN, ['ledger', 'erase', `http://127.0.0.1:${server.address().port}`, '--agent', 'a', '--token',
    join(dir, 'token'), '--yes', ...options]);
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (d) => { said.out += d; });
  child.stderr.setEncoding('utf8').on('data', (d) => { said.err += d; child.emit('said'); });
  const [response] = await asked;
  return { child, said, response, ended: once(child, 'close') };
}

test('the command waits for an erase that takes long, and says that the gateway goes on', async (t) => {
  const { child, said, response, ended } = await erase(t);
  while (said.err.split('still erasing; the gateway goes on').length <= LINES) await once(child, 'said');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ contents: 5, erased: true, reviews: 0, held: false }));
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.out, 'destroyed 5 contents\n');
});

test('a gateway that goes away in an erase is an error', async (t) => {
  const { said, response, ended } = await erase(t, '--json');
  response.destroy();
  assert.deepEqual(await ended, [4, null]);
  assert.equal(typeof JSON.parse(said.err).error.text, 'string');
});
