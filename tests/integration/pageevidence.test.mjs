// Evidence on the page: receipts and bundles to download, and the verifier of tests/conformance in a headless Chromium.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearer, SOURCE, startGateway, until, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startBrowser } from '../support/js/browser.mjs';
import { SKIP, enter, faults, picture } from '../support/js/page.mjs';
import { all, verdicts } from '../support/js/verifiers.mjs';

const DEV = bearer('dev', { tenant: 'acme' });
const BOT = bearer('bot', { tenant: 'acme' });
const AUDITOR = bearer('olga', { tenant: 'acme', role: 'auditor' });
const FOREIGN = bearer('mallory', { tenant: 'other' });
const ALL = [DEV, BOT, AUDITOR, FOREIGN];

/** A gateway with the calls of two agents in one run: { gw, base, ids, folder, trusted }. */
async function setUp(t) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    upstreams: { pay: { http: up.url } }, agents: ALL.map((agent) => agent.entry), auditors: ['auditor'],
    tools: { 'pay/balance': { scope: 'accounts', duplicates: 'allow' } },
  });
  for (const who of [DEV, BOT, DEV]) {
    const session = await openSession(gw, { token: who.token });
    await session.call('pay__balance', {}, { boundary: 'run-1' });
    await session.call('pay__unknown <b>', {}, { boundary: 'run-1' });
  }
  const folder = mkdtempSync(join(tmpdir(), 'writ-evidence-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const trusted = join(folder, 'trusted');
  writeFileSync(trusted, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out);
  return { gw, base: `http://127.0.0.1:${gw.adminPort}`, ids: gw.decisions().map((call) => call.decision_id), folder,
    trusted };
}

const get = (base, who, path) => fetch(`${base}/v1/ledger/${path}`,
  { headers: { authorization: `Bearer ${who.token}` } });

test('a caller gets the receipt of a call and the bundle of its run that it may see', async (t) => {
  const { base, ids, folder, trusted } = await setUp(t);
  const file = join(folder, 'file');
  const bundle = async (who, id) => {
    const response = await get(base, who, `${id}/bundle`);
    if (response.status !== 200) return response.status;
    assert.equal(response.headers.get('content-type'), 'application/jsonl');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    writeFileSync(file, await response.text());
    assert.deepEqual(verdicts('bundle', file, trusted), all('ok'));
    return readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === 'decision').map(({ record }) => [record.agent_id, record.boundary_id].join());
  };
  const own = (who, n) => Array.from({ length: n }, () => `${who},run-1`);
  assert.deepEqual(await bundle(AUDITOR, ids[0]), [...own('dev', 2), ...own('bot', 2), ...own('dev', 2)]);
  assert.deepEqual(await bundle(DEV, ids[0]), own('dev', 4), 'an agent gets its own calls of the run');
  assert.deepEqual(await bundle(BOT, ids[2]), own('bot', 2));
  assert.equal(await bundle(BOT, ids[0]), 404);
  assert.equal(await bundle(FOREIGN, ids[0]), 404);
  assert.equal(await bundle(AUDITOR, 'none'), 404);
  assert.equal((await fetch(`${base}/v1/ledger/${ids[0]}/bundle`)).status, 401);
  const receipt = await (await get(base, AUDITOR, `${ids[0]}/receipt`)).text();
  writeFileSync(file, receipt);
  assert.deepEqual(verdicts('receipt', file, trusted), all('ok'));
});

test('the verifier gives the verdict of every set of vectors in the browser too', { skip: SKIP }, async (t) => {
  const { base } = await setUp(t);
  const browser = await startBrowser(t);
  await browser.open(`${base}/evidence`);
  for (const [set, what, step] of [['receipts', 'receipt', 1], ['bundles', 'bundle', 5]]) {
    const { cases } = JSON.parse(readFileSync(join(SOURCE, 'vectors', set, `${set}.json`), 'utf8'));
    const some = cases.filter((_, i) => i % step === 0);
    assert.ok(some.length > 40);
    for (let at = 0; at < some.length; at += 20) {
      const wrong = await browser.run(async (kind, list) => {
        const { canonical, verdict, vkey } = await import('/page/verify.js');
        const { Buffer } = await import('/page/node.js');
        return list.filter((own) => {
          const raw = own.bundle_base64 === undefined ? Buffer.from(own[kind]) : Buffer.from(own.bundle_base64,
            'base64');
          const witnesses = (own.witnesses ?? []).map(vkey);
          const quorum = own.quorum ?? new Set(witnesses.map(({ name }) => name)).size;
          const found = verdict(kind, [raw], { keys: own.keys.map(vkey), witnesses, quorum });
          return canonical(found) !== canonical(own.expect);
        }).map(({ id }) => id);
      }, what, some.slice(at, at + 20));
      assert.deepEqual(wrong, [], set);
    }
  }
});

test('a person downloads evidence of a call, and verifies it in the browser', { skip: SKIP }, async (t) => {
  const { base, ids, folder, trusted } = await setUp(t);
  const browser = await startBrowser(t);
  const downloads = mkdtempSync(join(folder, 'downloads-'));
  await browser.size(1100, 900);
  await enter(browser, base, AUDITOR, `/ledger/${ids[0]}`);
  await browser.devtools('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
  for (const [what, name] of [['receipt', `receipt-${ids[0]}.json`], ['bundle', `bundle-${ids[0]}.jsonl`]]) {
    await browser.run((label) => [...document.querySelectorAll('button')].find((own) =>
      own.textContent === label).click(), `Download the ${what}`);
    await until(() => readdirSync(downloads).includes(name), name);
    assert.deepEqual(verdicts(what, join(downloads, name), trusted), all('ok'));
  }
  const said = () => browser.run(() => document.querySelector('.verdict .state')?.innerText.replace(/\s+/g, ' ') ?? '');
  await browser.tabTo('#verify-receipt', 200);
  await browser.press('\ue007');
  await browser.until(() => /Valid/.test(document.querySelector('.verdict').innerText));
  assert.match(await said(), /^Valid ok/);
  assert.match(await browser.text('.verdict'), /shows that it is consistent, not whose it is[^]*decision[^]*Allowed/);
  assert.equal(await browser.run(() => document.activeElement.className), 'verdict');
  assert.deepEqual(await faults(browser), []);
  await picture(browser, 'evidence-call');

  await browser.open(`${base}/evidence`);
  const [receipt, bundle] = ['receipt', 'bundle'].map((what) =>
    join(downloads, readdirSync(downloads).find((name) => name.startsWith(what))));
  const forged = join(folder, 'forged.json');
  writeFileSync(forged, readFileSync(receipt, 'utf8').replace('"executed"', '"blocked"'));
  const strange = writ(['keys', 'new', '--dir', join(folder, 'other')]);
  assert.equal(strange.code, 0);
  const keys = readFileSync(trusted, 'utf8');
  const [{ keys: [other] }] = JSON.parse(readFileSync(join(SOURCE, 'vectors/receipts/receipts.json'), 'utf8')).cases;
  for (const [file, trust, want] of [
    [receipt, keys, /^Valid ok/], [bundle, keys, /^Valid ok/], [receipt, `# a line\n${other}`, /^Refused checkpoint_/],
    [forged, keys, /^Refused record_not_in_log/], [receipt, 'no key', /^Refused evidence_malformed/],
    [trusted, keys, /^Refused evidence_malformed/],
  ]) {
    await browser.open(`${base}/evidence`);
    await browser.until(() => document.querySelector('#file') !== null);
    await browser.type('#file', file);
    await browser.run((value) => { document.querySelector('#keys').value = value; }, trust);
    await browser.run(() => document.querySelector('main form button').focus());
    await browser.press('\ue007');
    await browser.until(() => document.querySelector('.verdict .state') !== null);
    assert.match(await said(), want, `${file} ${trust}`);
    assert.doesNotMatch(await browser.text('.verdict'), /not whose it is/);
    if (file === bundle) {
      assert.match(await browser.text('.verdict'), /Decisions\s+6\s+Outcomes\s+6/);
      for (const scheme of ['light', 'dark']) {
        await browser.scheme(scheme);
        assert.deepEqual(await faults(browser), [], scheme);
        await picture(browser, `evidence-${scheme}`);
      }
      await browser.size(390, 844);
      assert.ok(await browser.run(() => document.documentElement.scrollWidth <= innerWidth), 'it fits a phone');
      await picture(browser, 'evidence-phone');
      await browser.size(1100, 900);
    }
  }
  assert.deepEqual(await browser.complaints(), []);
});
