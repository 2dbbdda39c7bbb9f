// installation.mjs - the installation as a third party finds it: a prefix, pkg-config.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Runs a program that must succeed; gives its output. */
export function must(program, args, options = {}) {
  const ran = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26, ...options });
  assert.equal(ran.status, 0, `${program} ${args.join(' ')}: ${ran.error ?? ''}\n${ran.stdout}\n${ran.stderr}`);
  return ran.stdout;
}

/** Installs the build of the folder below the prefix. */
export function install(build, prefix) {
  must('cmake', ['--install', build, '--prefix', prefix]);
}

/** Unpacks every package of the folder below the prefix. */
export function unpack(packages, prefix) {
  for (const name of readdirSync(packages).filter((name) => name.endsWith('.deb')))
    must('dpkg-deb', ['-x', join(packages, name), prefix]);
}

/** Path of a file below the prefix, wherever its folders are. */
export function installed(prefix, pattern) {
  const found = readdirSync(prefix, { recursive: true }).find((name) => pattern.test(name));
  assert.ok(found, `${pattern} is not installed`);
  return join(prefix, found);
}

/** The environment in which pkg-config finds a package of the installation. */
export const pkgConfig = (prefix, name) =>
  ({ ...process.env, PKG_CONFIG_PATH: dirname(installed(prefix, new RegExp(`/${name}\\.pc$`))) });

/** What a compiler has to be given for a package of the installation. */
export function flags(prefix, name, ...options) {
  return must('pkg-config', ['--cflags', '--libs', ...options, name], { env: pkgConfig(prefix, name) })
    .trim().split(/\s+/);
}
