// terminal.mjs - a program under a pseudo terminal of script(1): what it writes, keys for it, and another window size.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './gateway.mjs';

const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** Starts it; ends with the test. `rows` and `columns` are those of the window. `after` is a shell command that runs in
 * the same terminal when the program has ended. */
export async function startTerminal(t, command, { rows = 24, columns = 80, after = ':', ...options } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-terminal-'));
  const name = join(folder, 'tty');
  const run = command.map(quote).join(' ');
  const words = `stty rows ${rows} cols ${columns}; tty >${name}; ${run}; c=$?; ${after}; exit $c`;
  const child = spawn('script', ['-qefc', words, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const terminal = {
    text: '',
    keys: (text) => child.stdin.write(text),
    resize: (r, c) =>
      spawnSync('stty', ['-F', readFileSync(name, 'utf8').trim(), 'rows', String(r), 'cols', String(c)]),
    waitFor: (what, from = 0) => until(() => {
      const found = terminal.text.slice(from).match(what);
      return found && { ...found, at: from + found.index };
    }, `${what} on the terminal`),
    hangUp: () => child.kill('SIGKILL'),
    ended: once(child, 'close').then(([code]) => code),
  };
  child.stdout.setEncoding('utf8').on('data', (text) => { terminal.text += text; });
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await terminal.ended;
    rmSync(folder, { recursive: true });
  });
  return terminal;
}
