// The product alone, as README.md says: built without the tests, installed, and moved.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flags, install, installed, must } from '../support/js/installation.mjs';
import { packages } from '../support/js/packages.mjs';

const cwd = process.env.WRIT_SOURCE_DIR;
const folder = mkdtempSync(join(tmpdir(), 'writ-install-'));
after(() => rmSync(folder, { recursive: true }));

test('the product builds without tests and installs completely',
    { skip: process.env.WRIT_SANITIZED && 'built once is enough' }, () => {
  const build = join(folder, 'build');
  const prefix = join(folder, 'prefix');
  const pack = (out, env) => must('scripts/package', [out, build], { cwd, env: { ...process.env, ...env } });
  // as the preset says, but for what only makes the program faster and the compiler slower
  must('cmake', ['--preset', 'product', '-B', build, '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_C_FLAGS_DEBUG=-O0',
    '-DWRIT_LTO=OFF'], { cwd });
  const steps = must('ninja', ['-C', build, '-n', '-v']);
  assert.doesNotMatch(steps, /\/tests\/|libcheck|closed_/);
  must('cmake', ['--build', build]);
  install(build, prefix);

  const moved = join(folder, 'moved');
  renameSync(prefix, moved);
  for (const program of ['writ', 'writ-vectors']) {
    assert.match(must(join(moved, 'bin', program), ['--version']), new RegExp(`^${program} \\d`));
    assert.ok(existsSync(join(moved, `share/man/man1/${program}.1`)), program);
  }
  for (const name of ['include/writ/verify.h', 'share/doc/writ/quickstart.yaml'])
    assert.ok(existsSync(join(moved, name)), name);
  installed(moved, /libwrit-verify\.so$/);
  for (const name of ['writ', 'writ-verify'])
    for (const flag of flags(moved, name).filter((f) => /^-[IL]\//.test(f) && /writ-install/.test(f)))
      assert.ok(flag.slice(2).startsWith(moved) && existsSync(flag.slice(2)), flag);
  assert.ok(flags(moved, 'writ-verify').some((f) => f.startsWith(`-L${moved}`)));

  // the same build as packages, twice; deploy/contents checks those that are given to people
  must('cmake', ['-B', build, '-DWRIT_PACKAGE=ON', '-DCMAKE_INSTALL_PREFIX=/usr'], { cwd });
  must('cmake', ['--build', build]);
  const [first, second] = ['first', 'second'].map((name) => join(folder, name));
  pack(first, { TZ: 'Asia/Tokyo' });
  pack(second, { TZ: 'America/Lima' });
  assert.equal(readFileSync(join(first, 'SHA256SUMS'), 'utf8'), readFileSync(join(second, 'SHA256SUMS'), 'utf8'));
  packages(first);
});
