// The recipes of docs/credentials.md (npm jose, Python) against credentials of a running gateway, against the
// canonical numbers of the vectors, and against everything that must be refused.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANYBODY, SOURCE, startGateway, writ } from '../support/js/gateway.mjs';
import { AUD, ISS, issuer } from '../support/js/guard.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const PYTHON = '/usr/bin/python3';
const missing = spawnSync(PYTHON, ['-c', 'import jwt, cryptography']).status !== 0;
const ARGS = { amount: 12.5, note: 'é "q" \u0001\u2028',
  many: [1e21, 1e-7, 0.1, 100, 1e20, 123456789012345, -0.5, 5e-324], '\ud83d\ude00': 1,
  '\ufb33': { b: null, a: true } };

// { name, run(dir, requests) }: what each request comes to.
const DRIVER_JS = `import { readFileSync } from 'node:fs';
import { check } from './check.mjs';
for (const { token, tool, args, state } of JSON.parse(readFileSync('requests.json', 'utf8'))) {
  const checked = check(token, tool, args, { issuer: '${ISS}', audience: '${AUD}', state });
  console.log(await checked.then((who) => 'allowed for ' + who, (why) => 'no: ' + why.message));
}`;
const DRIVER_PY = `import json
from check import check
for request in json.load(open('requests.json')):
    try:
        print('allowed for', check(request['token'], request['tool'], request['args'], '${ISS}', '${AUD}',
                                   request.get('state')))
    except Exception as why:
        print('no:', why or type(why).__name__)
`;

function folder(t, jwks) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-recipe-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const page = readFileSync(join(SOURCE, 'docs/credentials.md'), 'utf8');
  for (const name of ['check.mjs', 'check.py'])
    writeFileSync(join(dir, name), new RegExp(`<!-- file: ${name} -->\n+\`\`\`\\w+\n([^]*?)\`\`\``).exec(page)[1]);
  writeFileSync(join(dir, 'driver.mjs'), DRIVER_JS);
  writeFileSync(join(dir, 'driver.py'), DRIVER_PY);
  writeFileSync(join(dir, 'jwks.json'), JSON.stringify(jwks));
  symlinkSync(join(SOURCE, 'tests/support/npm/node_modules'), join(dir, 'node_modules'));
  return dir;
}

const recipes = [['npm jose', process.execPath, ['--disable-warning=ExperimentalWarning', 'driver.mjs'], false],
  ['Python', PYTHON, ['driver.py'], missing && 'scripts/deps test installs python3-jwt']];
for (const [name, program, args, skip] of recipes) {
  const run = (dir, requests) => {
    writeFileSync(join(dir, 'requests.json'), JSON.stringify(requests));
    const ran = spawnSync(program, args, { cwd: dir, encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout.trimEnd().split('\n');
  };

  test(`${name}: a gateway's credential is good once, for its call`, { skip }, async (t) => {
    const up = await startUpstream(t);
    const gw = await startGateway(t,
      { issuer: ISS, agents: [ANYBODY], upstreams: { up: { http: up.url, resource: AUD } },
      tools: { 'up/pay': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] } } });
    await (await openSession(gw)).call('up__pay', ARGS);
    const jwks = JSON.parse(writ(['keys', 'jwks', '--dir', gw.path('keys')]).out);
    const dir = folder(t, jwks);
    const { credential: token, arguments: got } = await up.arrived(1);
    assert.deepEqual(run(dir,
      [{ token, tool: 'refund', args: got }, { token, tool: 'pay', args: { ...got, amount: 12 } },
      { token, tool: 'pay', args: got }, { token, tool: 'pay', args: got }]),
    ['no: scope_mismatch', 'no: args_mismatch', 'allowed for dev', 'no: replayed']);
    assert.deepEqual(run(dir, [{ token, tool: 'pay', args: got }]), ['no: replayed']); // another process
    assert.deepEqual(run(dir, ['', null].map((none) => ({ token: none, tool: 'pay', args: got }))),
      ['no: missing_credential', 'no: missing_credential']);
  });

  // JavaScript reads an integer as the double nearest to it, which then runs; Python keeps every digit
  test(`${name}: the arguments that run are those of the credential`, { skip }, async (t) => {
    const signer = await issuer();
    const dir = folder(t, signer.jwks);
    const token = await signer.mint('pay', { n: 2 ** 53 });
    const args = { n: JSON.rawJSON('9007199254740993') };
    assert.deepEqual(run(dir, [{ token, tool: 'pay', args }]),
      [name === 'Python' ? 'no: number_not_exact' : 'allowed for agent-1']);
    const exact = await signer.mint('pay', { n: 1e18, m: 1234567890123456800 });
    assert.deepEqual(run(dir, [{ token: exact, tool: 'pay', args: { n: 1e18, m: 1234567890123456800 } }]),
      ['allowed for agent-1']);
  });

  test(`${name}: any other credential is refused`, { skip }, async (t) => {
    const signer = await issuer();
    const stranger = await issuer();
    const dir = folder(t, signer.jwks);
    const now = Math.floor(Date.now() / 1000);
    const good = await signer.mint('pay', ARGS);
    const [head, body, signature] = good.split('.');
    const none = Buffer.from('{"alg":"none","kid":"k1","typ":"writ-credential+jwt"}').toString('base64url');
    const changes = [{ iss: `${ISS}/` }, { aud: `${AUD}/` }, { aud: [AUD, 'x'] }, { exp: now - 1 }, { nbf: now + 100 },
      { iat: now + 100 },
      { exp: now + 10000 }, { exp: undefined }, { jti: undefined }, { params_hash: 'sha256:x' },
      { authorization_details: [] }, { authorization_details: [{ type: 'other', tool: 'pay', locations: [AUD] }] }];
    const tokens = ['', 'x', `${none}.${body}.`, `${head}.${body}.`, `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      await stranger.mint('pay', ARGS),
      await (await issuer('other')).mint('pay', ARGS), await signer.mint('pay', ARGS, {}, 'JWT'),
      await signer.mint('pay', ARGS, {}, 'at+jwt'),
      ...await Promise.all(changes.map((c) => signer.mint('pay', ARGS, c)))];
    const lines = run(dir, [...tokens.map((token) => ({ token, tool: 'pay', args: ARGS })),
      { token: good, tool: 'pay', args: ARGS, state: 'sha256:drifted' }, { token: good, tool: 'pay', args: ARGS }]);
    for (const [i, line] of lines.slice(0, -1).entries()) assert.match(line, /^no: /, `${i}: ${line}`);
    assert.equal(lines.at(-1), 'allowed for agent-1'); // the credential was not used up
  });
}
