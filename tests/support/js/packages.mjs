// packages.mjs - checks what the Debian packages of a folder hold, as scripts/package left them there.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { installed, must, unpack } from './installation.mjs';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const NAMES = ['libwrit-dev', 'libwrit-jansson0', 'libwrit-verify0', 'writ'];
const sum = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Every file has its checksum; every package a bill of materials that names it and what it depends on. */
function checkPapers(folder) {
  const files = readdirSync(folder).filter((name) => name !== 'SHA256SUMS').sort();
  const sums = files.map((name) => `${sum(join(folder, name))}  ${name}`);
  assert.deepEqual(readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n').sort(), sums.sort());
  const debs = files.filter((name) => name.endsWith('.deb'));
  assert.deepEqual(debs.map((name) => name.split('_')[0]), NAMES);
  for (const deb of debs) {
    const bill = JSON.parse(readFileSync(join(folder, deb.replace(/deb$/, 'spdx.json')), 'utf8'));
    assert.equal(bill.spdxVersion, 'SPDX-2.3');
    const [own, ...others] = bill.packages;
    assert.equal(own.checksums[0].checksumValue, sum(join(folder, deb)));
    const depends = must('dpkg-deb', ['-f', join(folder, deb), 'Depends']).trim().split(', ')
      .map((text) => text.split(' ')[0]).filter(Boolean);
    assert.deepEqual(others.map(({ name }) => name).sort(), depends.sort(), deb);
    assert.ok(others.every(({ versionInfo }) => versionInfo !== 'NOASSERTION'), deb);
    const ids = new Set(['SPDXRef-DOCUMENT', ...bill.packages.map(({ SPDXID }) => SPDXID)]);
    for (const { spdxElementId, relatedSpdxElement } of bill.relationships)
      assert.ok(ids.has(spdxElementId) && ids.has(relatedSpdxElement), deb);
  }
}

/** A manual page for each command, and a completion script that each shell can read. */
function checkHelp(prefix) {
  const writ = join(prefix, 'usr/bin/writ');
  const commands = [...must(writ, ['help']).matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map((match) => match[1]);
  assert.ok(commands.length > 40);
  for (const command of ['', ...commands]) {
    const name = ['writ', ...command.split(' ')].filter(Boolean).join('-');
    const page = gunzipSync(readFileSync(join(prefix, `usr/share/man/man1/${name}.1.gz`))).toString();
    assert.match(page, new RegExp(`^\\.TH ${name.toUpperCase().replaceAll('-', '\\\\?-')} `, 'm'));
  }
  for (const [shell, script] of [['bash', 'bash-completion/completions/writ'], ['zsh', 'zsh/vendor-completions/_writ'],
    ['fish', 'fish/vendor_completions.d/writ.fish']]) {
    must(shell, ['-n', join(prefix, 'usr/share', script)]);
    assert.match(readFileSync(join(prefix, 'usr/share', script), 'utf8'), /ledger/);
  }
}

/** The verifiers in Python and in JavaScript run as they are installed. */
function checkVerifiers(prefix) {
  for (const [program, script] of [[process.execPath, 'verify.mjs'], ['python3', 'verify.py']])
    assert.match(must(program, [join(prefix, 'usr/share/writ', script), 'vectors',
      join(SOURCE, 'vectors/receipts/receipts.json')]), /^\d+ passed, 0 failed\n$/);
}

/** The service, with and without the drop-in for tool servers; systemd adds what it is exposed to, in tenths. */
function checkService(prefix) {
  const units = join(prefix, 'usr/lib/systemd/system'), unit = join(units, 'writ.service');
  const dropIn = join(prefix, 'usr/share/writ/writ-stdio.conf'), text = readFileSync(unit, 'utf8');
  assert.match(text, /^KillMode=mixed$/m); // else an upgrade ends tool servers in the middle of a call
  assert.match(readFileSync(join(units, 'writ.socket'), 'utf8'), /^ListenStream=127\.0\.0\.1:8700$/m);
  assert.match(readFileSync(dropIn, 'utf8'), /^MemoryDenyWriteExecute=no$/m);
  must('systemd-analyze', ['security', '--offline=true', '--threshold=20', '--no-pager', unit]);
}

/** Archives hold code alone. */
function checkArchives(prefix) {
  const headers = must('readelf', ['-SW', installed(prefix, /libwrit_base\.a$/)]);
  assert.match(headers, /\.text/);
  assert.doesNotMatch(headers, /\.gnu\.lto_|\.debug_/);
}

export function packages(folder) {
  const prefix = mkdtempSync(join(tmpdir(), 'writ-packages-'));
  try {
    checkPapers(folder);
    unpack(folder, prefix);
    checkHelp(prefix);
    checkVerifiers(prefix);
    checkService(prefix);
    checkArchives(prefix);
  } finally {
    rmSync(prefix, { recursive: true });
  }
}
