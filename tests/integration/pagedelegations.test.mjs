// Delegations on the page, by keyboard: set, seen by both, told on the ballot, and revoked.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { KEY, startBrowser } from '../support/js/browser.mjs';
import { bearer } from '../support/js/gateway.mjs';
import { SKIP, enter, faults, picture } from '../support/js/page.mjs';
import { ALL, ANN, BOB, DEV, OPS, api, asks, setUp, vote } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';

const review = { voters: [{ id: 'ann' }, { id: 'bob' }], quorum: '2', administrators: [],
  delegations: { longest: '30d', stand_ins: ['ops'] } };

const admin = (gw) => `http://127.0.0.1:${gw.adminPort}`;
const listOf = async (gw, who) => (await (await fetch(`${admin(gw)}/v1/delegations`,
  { headers: { authorization: `Bearer ${who.token}` } })).json()).delegations;

async function set(gw, who, delegate) {
  const res = await fetch(`${admin(gw)}/v1/delegations`, { method: 'POST',
    headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ delegate, until: new Date(Date.now() + 3600_000).toISOString() }) });
  assert.equal(res.status, 200);
  return (await res.json()).id;
}

async function checked(browser, what) {
  for (const scheme of ['light', 'dark']) {
    await browser.scheme(scheme);
    for (const [width, height] of [[1100, 820], [390, 844]]) {
      await browser.size(width, height);
      assert.deepEqual(await faults(browser), [], `${what}, ${scheme}, ${width}`);
      assert.ok(await browser.run(() => document.documentElement.scrollWidth <= innerWidth), `${what} fits ${width}`);
    }
  }
  await browser.size(1100, 820);
}

test('a voter sets a delegation and revokes it; its delegate reads for whom it votes', { skip: SKIP }, async (t) => {
  const { gw } = await setUp(t, { review });
  const base = `http://127.0.0.1:${gw.adminPort}`;
  const session = await openSession(gw, { token: DEV.token });
  const browser = await startBrowser(t);
  await browser.size(1100, 820);
  await enter(browser, base, BOB, '/reviews');
  await browser.tabTo('a[href="/delegations"]');
  await browser.press(KEY.enter);
  await browser.sees('No delegation is in force.');
  await checked(browser, 'an empty list');
  await browser.tabTo('#tools');
  await browser.press(...'up');
  await browser.tabTo('#set');
  await browser.press(KEY.enter);
  await browser.sees('element 0 of tools is not upstream/tool');
  for (const empty of [' , ', '  ']) {
    await browser.tabTo('#tools');
    await browser.press(...empty, KEY.enter);
    await browser.sees('Name at least one pattern');
    assert.equal((await listOf(gw, BOB)).length, 0, 'not for all tools');
  }
  await browser.tabTo('#tools');
  await browser.press(...'up/pay', KEY.enter); // it replaces what is selected
  await browser.until(() => document.querySelector('#said').textContent === 'The delegation is set.');
  await browser.sees('ops votes for bob');
  await browser.sees('up/pay');
  await checked(browser, 'a list with a delegation');
  await picture(browser, 'delegations');

  const id = await asks(session, { amount: 1 });
  await browser.click('#leave');
  await enter(browser, base, OPS, `/reviews/${id}`);
  await browser.sees('Your vote counts for bob.');
  await browser.tabTo('#vote-approve');
  await browser.press(KEY.space);
  await browser.tabTo('.ballot button');
  await browser.press(KEY.enter);
  await browser.sees('the vote of ops');
  assert.equal((await api(gw, ANN, `/${id}`)).json.voters[1].speaker, 'ops');
  await checked(browser, 'a review with a delegate');
  await picture(browser, 'delegate');

  await browser.open(`${base}/delegations`);
  await browser.sees('No review lets you name another one.');
  await browser.tabTo('.card button');
  await browser.press(KEY.enter);
  await browser.sees('Press again to revoke');
  await browser.press(KEY.enter);
  await browser.until(() => document.querySelector('#said').textContent === 'The delegation is revoked.');
  await browser.sees('No delegation is in force.');
  assert.equal((await vote(gw, ANN, id, 'approve')).json.state, 'open', 'the vote of ops no longer counts for bob');
  assert.deepEqual((await browser.complaints()).filter((c) => !/status of 422/.test(c.message)), []);
});

test('a long list is shown in pages, and Revoke only where it works', { skip: SKIP }, async (t) => {
  const GLOBAL = bearer('bob-of-all', { subject: 'bob' });
  const { gw } = await setUp(t, { review, top: { agents: [...ALL, GLOBAL].map((a) => a.entry) } });
  await set(gw, GLOBAL, 'ops');
  for (const voter of [BOB, ANN]) await Promise.all(Array.from({ length: 60 }, () => set(gw, voter, 'ops')));
  const browser = await startBrowser(t);
  await browser.size(1100, 820);
  await enter(browser, admin(gw), OPS, '/delegations');
  await browser.sees('ops votes for bob');
  const shown = () => browser.run(() => [document.querySelectorAll('.card').length,
    document.querySelectorAll('.card button').length, document.querySelector('.card:first-child button') === null]);
  assert.deepEqual(await shown(), [100, 99, true], 'the first is for all tenants');
  await checked(browser, 'a page of a list');
  await browser.click('#more');
  await browser.until(() => document.querySelectorAll('.card').length === 121);
  await browser.until(() => document.querySelector('#more').hidden);
  assert.ok(await browser.run(() => document.activeElement === document.querySelectorAll('.card')[100]));
  assert.deepEqual(await browser.complaints(), []);
});
