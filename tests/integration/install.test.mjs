// The product alone, as README.md says: built without the tests, installed, and moved.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flags, install, installed, must } from '../support/js/installation.mjs';

const cwd = process.env.WRIT_SOURCE_DIR;
const folder = mkdtempSync(join(tmpdir(), 'writ-install-'));
after(() => rmSync(folder, { recursive: true }));

test('the product builds without tests and installs completely',
    { skip: process.env.WRIT_SANITIZED && 'built once is enough' }, () => {
  const build = join(folder, 'build');
  const prefix = join(folder, 'prefix');
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
});
