// examples.mjs - the C programs of examples/, built as their reader builds them.
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, pkgConfig } from './installation.mjs';

const EXAMPLES = join(process.env.WRIT_SOURCE_DIR ?? process.cwd(), 'examples');

/** The examples in C. */
export const inC = () => readdirSync(EXAMPLES)
  .filter((name) => !name.includes('.') && readdirSync(join(EXAMPLES, name)).some((file) => file.endsWith('.c')));

/** The command of an example's README that builds it. */
function commandOf(name) {
  const found = /^ {4}((?:cc|make)\b.*)$/m.exec(readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8'));
  assert.ok(found, `examples/${name}/README.md says how to build it`);
  return found[1];
}

/** Builds an example in the folder by the command of its README, against the installation. Its compiler is the reader's
 * but for one thing: what is not declared is an error, because C compiles it to something else. */
export function buildExample(name, prefix, folder) {
  cpSync(join(EXAMPLES, name), folder, { recursive: true });
  const bin = mkdtempSync(join(tmpdir(), 'writ-cc-')), cc = join(bin, 'cc');
  writeFileSync(cc, '#!/bin/sh\nPATH=${PATH#*:} exec cc -Werror=implicit-function-declaration "$@"\n');
  chmodSync(cc, 0o755);
  const { CFLAGS, CPPFLAGS, LDFLAGS, ...env } = pkgConfig(prefix, 'writ');
  must('sh', ['-c', commandOf(name)], { cwd: folder, env: { ...env, PATH: `${bin}:${env.PATH}` } });
}
