// callgrind.mjs - a program whose gateways run under valgrind, which counts their instructions.
import { after } from 'node:test';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder with `writ`, which runs `program`, and `serve` under callgrind: its profiles are out.PID in the folder. The
 * folder ends with the test. */
export function countedProgram(program) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-callgrind-'));
  after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'writ'), '#!/bin/sh\n' +
    `[ "$1" = serve ] && exec valgrind -q --tool=callgrind --callgrind-out-file=${folder}/out.%p ${program} "$@"\n` +
    `exec ${program} "$@"\n`);
  chmodSync(join(folder, 'writ'), 0o755);
  symlinkSync(`${program}-vectors`, join(folder, 'writ-vectors'));
  return folder;
}
