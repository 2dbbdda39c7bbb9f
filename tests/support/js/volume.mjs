// volume.mjs - a small file system under a gateway, and ways to take it away while it is in use.
//
// Mounting needs a mount name space: ownMounts() runs the test file again inside one.
import { spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const INSIDE = 'WRIT_TEST_OWN_MOUNTS';
const WAYS = [['-m'], ['-Urm']]; // as root; as any user, where the system allows user name spaces

const run = (command, args, options = {}) => spawnSync(command, args,
  { encoding: 'utf8', maxBuffer: 1 << 28, ...options });

export const insideOwnMounts = process.env[INSIDE] !== undefined;

/** Runs `file` again where it may mount; says how that ended, or undefined when this is not allowed. `users`: it has to
 * run programs as other users, too. */
export function ownMounts(file, { users = false } = {}) {
  const at = mkdtempSync(join(tmpdir(), 'writ-mount-'));
  const mounts = ['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', at];
  const way = (users ? WAYS.slice(0, 1) : WAYS).find((w) => run('unshare', [...w, ...mounts]).status === 0);
  rmSync(at, { recursive: true });
  if (way === undefined) return undefined;
  // a test file run by a test file reports to the outer one unless this variable is unset
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return run('unshare', [...way, process.execPath, '--test', '--test-reporter=spec', file],
    { env: { ...env, [INSIDE]: '1' } });
}

/** A file system of `kib` KiB. It goes away with the name space. */
export class Volume {
  constructor(kib) {
    this.at = mkdtempSync(join(tmpdir(), 'writ-volume-'));
    this.must('mount', ['-t', 'tmpfs', '-o', `size=${kib}k,mode=0700`, 'none', this.at]);
    this.dir = join(this.at, 'gateway');
    mkdirSync(this.dir, { mode: 0o700 });
  }

  must(command, args) {
    const { status, stderr } = run(command, args);
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  }

  get filler() {
    return join(this.at, 'filler');
  }

  /** Fills the file system to the last byte. */
  fill() {
    const fd = openSync(this.filler, 'a');
    let full = 0;
    for (let size = 65536; size >= 1; size /= 2) {
      try {
        for (;;) writeSync(fd, Buffer.alloc(size));
      } catch (error) {
        if (error.code !== 'ENOSPC') throw error;
        full++;
      }
    }
    closeSync(fd);
    if (full === 0) throw new Error('the volume did not fill up');
  }

  /** Takes a part of the whole file system, 0 to 1, further to what is taken. */
  take(part) {
    const { bsize, blocks } = statfsSync(this.at);
    appendFileSync(this.filler, Buffer.alloc(Math.floor(bsize * blocks * part)));
  }

  /** Gives it back. */
  free() {
    rmSync(this.filler);
  }

  /** Takes the file system away, when nothing uses it any more. */
  end() {
    this.must('umount', ['--lazy', this.at]);
    rmSync(this.at, { recursive: true });
  }

  /** The same files at another path, read-only. */
  readOnly() {
    const at = mkdtempSync(join(tmpdir(), 'writ-volume-'));
    this.must('mount', ['--bind', this.at, at]);
    this.must('mount', ['-o', 'remount,bind,ro', at]);
    return join(at, 'gateway');
  }
}

/** Lets a running process write files of up to `bytes` only; undefined: no limit again. */
export function limitFiles(pid, bytes) {
  const { status, stderr } = run('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`]);
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}

/** Makes a file unwritable for every user, also through open descriptors; false when the file system or the user
 * cannot. */
export function freeze(file) {
  return run('chattr', ['+i', file]).status === 0;
}

export function thaw(file) {
  run('chattr', ['-i', file]);
}
