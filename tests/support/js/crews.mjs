// crews.mjs - crews of `writ crew` for tests: files, workers, the command.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const writ = process.env.WRIT_BIN;

/** A new folder. */
export const folder = () => mkdtempSync(join(tmpdir(), 'writ-crew-'));

/** Writes a file, of text or JSON; gives its path. */
export const put = (dir, name, value) => {
  const file = join(dir, name);
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
};

/** Runs `writ crew ...`. */
export const run = (...args) => spawnSync(writ, ['crew', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });

/** A role of a shape. */
export const role = (name, amount, rest = {}) => ({ role: name, permissions: {}, amount, ...rest });

/** The command of a worker: the body of a function handles each event `e`; `say` writes one, `answer` an output. */
export const worker = (dir, body) => `'${process.execPath}' '${put(dir, `worker-${Math.random()}.mjs`, `
  import { createInterface } from 'node:readline';
  import fs from 'node:fs';
  const say = (e) => process.stdout.write(JSON.stringify(e) + '\\n');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const e = JSON.parse(line);
    const answer = (output) => say({ type: 'agent.step.completed', correlationId: e.correlationId, output });
    ${body}
  });
`)}'`;

/** Whether a process runs. One that has ended and was not reaped does not. */
export const alive = (pid) => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** The lines of a log, as objects. */
export const lines = (log) => readFileSync(log, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

/** Numbers below n from a seed (mulberry32). */
export const random = (seed) => (n) => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
};
