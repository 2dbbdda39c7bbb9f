// suite.mjs - runs the official conformance suite against a server, and reads its results.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolve } from '../npm/peers.mjs';

const SUITE = resolve('@modelcontextprotocol/conformance/dist/index.js');

/** The frozen sets of requirements, and how many scenarios each has. */
export const REVISIONS = { '2025-11-25': 33, '2026-07-28': 50 };

/** Runs the suite against a URL; returns its output. */
export function runSuite(url, ...args) {
  return new Promise((done, fail) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-suite-'));
    const child = spawn(process.execPath, [SUITE, 'server', '--url', url, ...args],
      { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (d) => { text += d; });
    child.stderr.setEncoding('utf8').on('data', (d) => { text += d; });
    child.on('error', fail);
    child.on('close', () => {
      rmSync(dir, { recursive: true, force: true });
      done(text);
    });
  });
}

/** All scenarios of a revision: { scenario: 'N passed, M failed' }. */
export async function all(url, revision) {
  const text = await runSuite(url, '--requirements', revision);
  const lines = [...text.matchAll(/^[✓✗] ([a-z0-9-]+): (\d+ passed, \d+ failed)/gmu)];
  return Object.fromEntries(lines.map(([, name, counts]) => [name, counts]));
}

/** The scenarios that failed. */
export const failed = (results) => Object.entries(results).filter(([, counts]) => !counts.endsWith(' 0 failed'))
  .map(([name]) => name);
