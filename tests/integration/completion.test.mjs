// Completion scripts, run by the shells they are for; and the manual page of each command.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { BIN as WRIT } from '../support/js/gateway.mjs';

const run = (program, args, input = '') => {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
};
const words = (text) => text.split(/\s+/).filter(Boolean);
const help = run(WRIT, ['help']);
const commands = [...help.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map((match) => match[1]);
const groups = [...new Set(commands.map((command) => command.split(' ')[0]))];

/** The offers of each shell after these words; the last word may be partial. */
const shells = {
  bash: (script, line) => words(run('bash', ['-c', `${script}
    COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _writ_complete; printf '%s\\n' "\${COMPREPLY[@]}"`])),
  // _describe and _files belong to zsh's completion, which needs a terminal; items are their arguments
  zsh: (script, line) => run('zsh', ['-f', '-c', `
    _describe() { print -rl -- \${(P)2} }; _files() { }
    words=(${line.map((word) => `'${word}'`).join(' ')}) CURRENT=$#words PREFIX=$words[-1]
    offer() { ${script}
    }; offer`]).split('\n').map((item) => item.split(':')[0]).filter((item) => item.startsWith(line.at(-1)) && item),
  fish: (script, line) => run('fish', ['--no-config', '-c', `${script}
    complete -C '${line.join(' ')}'`]).split('\n').map((item) => item.split('\t')[0]).filter(Boolean),
};

for (const [shell, offers] of Object.entries(shells)) {
  test(`${shell} completes every command and every option`, () => {
    const script = run(WRIT, ['help', '--completion', shell]);
    assert.deepEqual(offers(script, ['writ', '']).sort(), [...groups].sort());
    assert.deepEqual(offers(script, ['writ', 'led']), ['ledger']);
    for (const group of groups) {
      const seconds = commands.filter((command) => command.startsWith(`${group} `))
        .map((command) => command.split(' ')[1]);
      if (seconds.length > 0)
        assert.deepEqual(offers(script, ['writ', group, '']).sort(), seconds.sort(), group);
    }
    for (const command of ['serve', 'ledger list', 'keys revoke']) {
      const line = command.split(' ');
      const options = [...run(WRIT, ['help', ...line]).matchAll(/^ {2}(--[a-z-]+)/gm)].map((match) => match[1]);
      const offered = offers(script, ['writ', ...line, '--']).filter((item) => item.startsWith('--'));
      assert.deepEqual(offered.sort(), options.sort(), command);
    }
  });
}

test('help --completion refuses another shell', () => {
  const { status, stdout, stderr } = spawnSync(WRIT, ['help', '--completion', 'tcsh'], { encoding: 'utf8' });
  assert.equal(status, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /bash, zsh and fish/);
});

test('help --manual prints a page for each command with its name and title', () => {
  for (const command of commands) {
    const page = run(WRIT, ['help', ...command.split(' '), '--manual']);
    assert.match(page, new RegExp(`\\.TH WRIT-${command.replace(' ', '-').toUpperCase()} 1 `));
    assert.ok(page.includes(`writ\\-${command.replace(' ', '\\-')} \\- `), command);
  }
});
