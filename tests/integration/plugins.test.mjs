// Plug-ins count in a process of their own: whatever one does, the count has its result or is refused, within its time,
// and the program and its files are as before. Real shared objects, built as a user builds them.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostile } from '../support/js/plugins.mjs';

const writ = process.env.WRIT_BIN;
const dir = mkdtempSync(join(tmpdir(), 'writ-plugins-'));
const stolen = join(dir, 'written-by-a-plugin');
chmodSync(dir, 0o777); // a plug-in that could write would find a place

const votes = join(dir, 'votes.json');
writeFileSync(votes, JSON.stringify(['b', 'a', 'a'].map((output, at) => ({ agentId: `v-${at}`, output: [output] }))));

// The folder with one plug-in that does this.
function plugin(deed) {
  const folder = mkdtempSync(join(dir, 'engines-'));
  hostile(folder, deed, stolen);
  return folder;
}

const vote = (deed, seconds = '60', folder = plugin(deed)) => spawnSync(writ,
  ['crew', 'vote', deed, votes, '--engines', folder, '--engine-seconds', seconds],
  { encoding: 'utf8', env: { ...process.env, SECRET: 'hidden' }, maxBuffer: 1 << 26 });

function refused(deed, why, seconds) {
  const ran = vote(deed, seconds);
  assert.notEqual(ran.status, 0, `${deed} resolved: ${ran.stdout}`);
  assert.doesNotMatch(ran.stdout, /resolved/, deed);
  assert.match(ran.stderr, why, deed);
}

// The processes of this program's engines, of any test run: each names its program.
const left = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0engine-process\0')
      && readFileSync(`/proc/${pid}/maps`, 'utf8').includes(writ);
  } catch { return false; }
});

test('a plug-in that counts gives its result and its explanation, as one in the program would', () => {
  const ran = vote('polite');
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /^polite has 3 ballots\nresolved: \["b"\]\n$/);
});

test('a crash refuses the count and is named; the program lives', () => {
  refused('crash', /engine crash refuses these ballots: its process was ended by signal 6 \(Aborted\)/);
  const ran = vote('early'); // it cannot be asked for its name
  assert.match(ran.stderr, /early\.so: skipped: its process was ended by signal 6/);
  assert.notEqual(ran.status, 0);
});

test('a plug-in that hangs, computes for ever or closes its output ends with its time', () => {
  refused('hang', /it gave no answer within 2 s/, '2');
  refused('deaf', /it gave no answer within 2 s/, '2');
  refused('spin', /it gave no answer within 2 s|was ended by signal (24|9)/, '2');
  const slow = vote('slow', '2'); // as its name is asked for
  assert.match(slow.stderr, /slow\.so: skipped: it gave no answer within 2 s/);
  assert.notEqual(slow.status, 0);
});

test('an answer that is none of the forms, or names a winner that there is not, refuses the count', () => {
  refused('flood', /its answer is longer than \d+ bytes/);
  refused('silent', /its process ended without an answer, with status 0/);
  for (const deed of ['babble', 'extra', 'twice']) refused(deed, /its answer is not one of an engine/);
  for (const deed of ['wrong', 'nobody', 'forge'])
    refused(deed, new RegExp(`engine ${deed} names a winner that there is not`));
  refused('refuse', /engine refuse refuses these ballots: refuse has 3 ballots/);
});

test('memory, processes, files, sockets, variables and descriptors of the program are out of reach', (t) => {
  const ran = vote('probe');
  assert.equal(ran.status, 0, ran.stderr);
  assert.deepEqual(ran.stdout.split('\n'), ['probe has 3 ballots', 'descriptors 2', 'fork -1 then -1', 'open -1',
    'write -1', 'socket -1', 'variables 0', 'root 0', 'resolved: ["b"]', '']);
  assert.equal(existsSync(stolen), false);
  if (process.env.WRIT_SANITIZED) return t.diagnostic('the limit of memory is not set in a sanitized program');
  refused('eat', /was ended by signal 11/);
});

test('an explanation has its limit, and the result is as it was', () => {
  const ran = vote('talk');
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(ran.stdout.length < 2 << 20, `${ran.stdout.length}`);
  assert.match(ran.stdout, /resolved: \["b"\]\n$/);
});

test('no process of an engine is left', () => {
  assert.deepEqual(left(), []);
});

test('a file that others can write, or that is no file, is skipped', () => {
  const folder = plugin('polite');
  chmodSync(join(folder, 'polite.so'), 0o666);
  mkdirSync(join(folder, 'folder.so'));
  writeFileSync(join(folder, 'text.so'), 'no object', { mode: 0o600 });
  writeFileSync(join(folder, 'empty.so'), '', { mode: 0o600 });
  const ran = vote('polite', '60', folder);
  assert.notEqual(ran.status, 0);
  for (const why of [/polite\.so: skipped: mode 0666 gives writing to others/,
    /folder\.so: skipped: not a regular file/, /text\.so: skipped: it cannot be loaded/,
    /empty\.so: skipped: no plug-in to load/]) assert.match(ran.stderr, why);
});
