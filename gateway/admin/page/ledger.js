// ledger.js - the calls in the ledger, the newest first. The newest page is live: calls appear and
// get their outcomes as the gateway records them. A page has PAGE rows, however many calls there are.
import { calls, query } from './api.js';
import { el, fill } from './dom.js';
import { address, form, read } from './filters.js';
import { follow } from './follow.js';
import { name, pill, took, verdict, when } from './shown.js';

const PAGE = 50;
const COLUMNS = ['When', 'Tool', 'Decision', 'Outcome', 'Agent', 'Run'];
const SCOPES = { all: 'All calls of all tenants.', tenant: 'All calls of your tenant.', own: 'Your own calls.' };

const href = (call) => `/ledger/${encodeURIComponent(call.decision_id)}`;

function outcome(call) {
  if (call.outcome === undefined) {
    return el('span', { class: 'soft' }, call.superseded || call.decision === 'require_approval' ? 'by review' : 'none yet');
  }
  const ran = call.outcome !== 'blocked' && Date.parse(call.completed_at) - Date.parse(call.issued_at);
  return [pill(call.outcome), ran !== false && el('span', { class: 'soft small' }, ` ${took(ran)}`)];
}

function row(call) {
  const cells = [
    el('a', { href: href(call) }, when(call.issued_at, { short: true })),
    [call.upstream !== undefined && [name(call.upstream), '/'], name(call.tool)],
    [verdict(call.decision, call.reason), call.reason !== undefined && el('span', { class: 'soft small' }, ' ', name(call.reason))],
    outcome(call),
    name(call.agent_id),
    [el('span', { class: 'run' }, name(call.boundary_id)), el('span', { class: 'soft small' }, ` ${call.seq}`)],
  ];
  return el('tr', { role: 'row' }, COLUMNS.map((label, i) => el('td', { role: 'cell', 'data-label': label }, el('span', {}, cells[i]))));
}

/** The rows of one page, and the calls that came since. */
class Rows {
  constructor(list) {
    this.body = el('tbody', { role: 'rowgroup' });
    this.shown = new Map(); // by decision_id: { call, row }, the newest first
    this.waiting = new Map(); // calls that are not shown yet
    this.dropped = false;
    this.#show(list);
  }

  #show(list) {
    const all = [...list, ...[...this.shown.values()].map(({ call }) => call)];
    for (const call of all.slice(PAGE)) this.#drop(call);
    const fresh = all.slice(0, Math.min(PAGE, list.length)).map((call) => [call.decision_id, { call, row: row(call) }]);
    this.shown = new Map([...fresh, ...this.shown]);
    this.body.prepend(...fresh.map(([, own]) => own.row));
  }

  #drop(call) {
    this.dropped = true;
    this.shown.get(call.decision_id)?.row.remove();
    this.shown.delete(call.decision_id);
  }

  /** A call as it is now: a row changes in its place, a new one waits. */
  take(call) {
    const own = this.shown.get(call.decision_id);
    if (own === undefined) {
      if (call.leaf > this.newest) this.waiting.set(call.decision_id, call);
      return;
    }
    const fresh = row(call);
    const had = own.row.contains(document.activeElement);
    own.row.replaceWith(fresh);
    Object.assign(own, { call, row: fresh });
    if (had) fresh.querySelector('a').focus();
  }

  /** Shows the calls that wait. */
  turn() {
    const list = [...this.waiting.values()].sort((a, b) => b.leaf - a.leaf);
    this.waiting.clear();
    this.#show(list);
  }

  get newest() {
    return this.shown.values().next().value?.call.leaf ?? -1;
  }

  /** Where the calls after the last shown one begin. */
  get oldest() {
    return [...this.shown.values()].at(-1)?.call.leaf;
  }

  /** Whether a person is at a row: it must not move away. */
  get isUsed() {
    return this.body.contains(document.activeElement) || this.body.matches(':hover') || this.body.getBoundingClientRect().top < 0;
  }
}

function table(rows) {
  return el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Calls, the newest first'),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, COLUMNS.map((label) => el('th', { role: 'columnheader', scope: 'col' }, label)))),
    rows.body);
}

export async function ledgerView(person, params, go) {
  const { before, ...rest } = read(params);
  let found = await calls({ ...rest, before });
  let rows = new Rows(found.calls);
  let stream = null;
  let last = String(found.at);
  const place = el('div', {});
  const pages = el('nav', { class: 'pages', 'aria-label': 'Pages' });
  const state = el('span', { id: 'calls-link', class: 'link' }, 'Connecting');
  const fresh = el('button', { type: 'button', class: 'quiet', hidden: true });

  const around = () => {
    const older = rows.dropped ? rows.oldest : found.next;
    fill(pages, before !== undefined && el('a', { href: address(rest) }, 'Newest'),
      older !== undefined && el('a', { href: address({ ...rest, before: String(older) }) }, rows.shown.size === 0 ? 'Search further back' : 'Older'));
    fresh.hidden = rows.waiting.size === 0;
    fill(fresh, `Show ${rows.waiting.size} new ${rows.waiting.size === 1 ? 'call' : 'calls'}`);
  };
  const draw = () => {
    fill(place, rows.shown.size === 0 ? el('p', { class: 'nothing' }, found.next === undefined ? 'No call found.' : 'No call found so far.') : table(rows));
    around();
  };
  const turn = () => {
    const was = rows.shown.size;
    rows.turn();
    if (was === 0) draw();
    else around();
  };
  const again = async () => { // the stream does not know what came in between
    found = await calls(rest).catch(() => found);
    rows = new Rows(found.calls);
    draw();
  };
  const start = () => {
    stream = follow(`/v1/ledger/events${query(rest)}`, {
      last,
      each({ event, data }) {
        if (event === 'reset') again();
        else if (event === 'call') rows.take(JSON.parse(data));
      },
      after() {
        if (rows.waiting.size > 0 && !rows.isUsed) turn();
        else around();
      },
      link(is) {
        state.textContent = is ? 'Live' : 'Not connected: trying again';
        state.classList.toggle('lost', !is);
      },
    });
  };
  const seen = () => {
    if (stream !== null) last = stream.last;
    stream?.stop();
    stream = null;
    if (!document.hidden) start();
  };
  fresh.addEventListener('click', () => {
    turn();
    rows.body.querySelector('a')?.focus();
  });
  draw();
  if (before === undefined) {
    start();
    document.addEventListener('visibilitychange', seen);
  } else {
    fill(state, 'Older calls: this page stays as it is');
    state.classList.add('still');
  }
  return {
    end() {
      document.removeEventListener('visibilitychange', seen);
      stream?.stop();
    },
    title: 'Ledger',
    element: el('section', {},
      el('h1', { tabindex: '-1' }, 'Ledger'),
      el('p', { class: 'line soft' }, el('span', {}, SCOPES[found.scope]), state),
      form(rest, go), fresh, place, pages),
  };
}
