// ledger.js - the calls in the ledger, the newest first: searched and turned page by page.
import { calls } from './api.js';
import { el, fill } from './dom.js';
import { DECISIONS, name, pill, when, word } from './shown.js';

const FILTERS = ['q', 'decision', 'before'];
const EVERY_MS = 10_000; // how often the first page is asked for again

function row(call) {
  return el('tr', { role: 'row' },
    el('td', { role: 'cell', 'data-label': 'When' }, el('a', { href: `/ledger/${encodeURIComponent(call.decision_id)}` }, when(call.issued_at, { short: true }))),
    el('td', { role: 'cell', 'data-label': 'Tool' }, name(call.tool)),
    el('td', { role: 'cell', 'data-label': 'Decision' }, pill(call.decision)),
    el('td', { role: 'cell', 'data-label': 'Outcome' }, call.outcome !== undefined ? pill(call.outcome) : call.superseded || call.decision === 'require_approval' ? el('span', { class: 'soft' }, 'by review') : el('span', { class: 'soft' }, 'none yet')),
    el('td', { role: 'cell', 'data-label': 'Agent' }, name(call.agent_id)),
    el('td', { role: 'cell', 'data-label': 'Run' }, el('span', { class: 'run' }, name(call.boundary_id)), el('span', { class: 'soft small' }, ` ${call.seq}`)));
}

function form(filter, go) {
  const q = el('input', { id: 'q', type: 'search', name: 'q', value: filter.q ?? '', autocomplete: 'off', spellcheck: 'false', maxlength: '200' });
  const decision = el('select', { id: 'decision', name: 'decision' }, ['', ...Object.keys(DECISIONS)].map((value) => el('option', { value, selected: (filter.decision ?? '') === value }, value === '' ? 'Any' : word(value))));
  const element = el('form', { class: 'filter', role: 'search', 'aria-label': 'Ledger' },
    el('div', { class: 'field grow' }, el('label', { for: 'q' }, 'Tool, agent, run or id'), q),
    el('div', { class: 'field' }, el('label', { for: 'decision' }, 'Decision'), decision),
    el('button', { class: 'main' }, 'Search'));
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    go(address({ q: q.value.trim(), decision: decision.value }));
  });
  return element;
}

function address(filter) {
  const params = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '' && value !== undefined));
  return params.size === 0 ? '/ledger' : `/ledger?${params}`;
}

export async function ledgerView(person, params, go) {
  const filter = Object.fromEntries(FILTERS.filter((key) => params.has(key)).map((key) => [key, params.get(key)]));
  const found = await calls(filter);
  const { before, ...rest } = filter;
  const rows = el('tbody', { role: 'rowgroup' }, found.calls.map(row));
  let last = JSON.stringify(found.calls);
  const renew = async () => {
    if (document.hidden) return;
    const { calls: list } = await calls(filter).catch(() => ({}));
    if (list === undefined || JSON.stringify(list) === last || !rows.isConnected) return;
    last = JSON.stringify(list);
    const focused = rows.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    fill(rows, list.map(row));
    if (focused !== null) rows.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  };
  const timer = before === undefined && filter.q === undefined ? setInterval(renew, EVERY_MS) : null;
  return {
    end: () => clearInterval(timer),
    title: 'Ledger',
    element: el('section', {},
      el('h1', { tabindex: '-1' }, 'Ledger'),
      el('p', { class: 'soft' }, { all: 'All calls of all tenants.', tenant: 'All calls of your tenant.', own: 'Your own calls.' }[found.scope]),
      form(filter, go),
      found.calls.length === 0
        ? el('p', { class: 'nothing' }, found.next === undefined ? 'No call found.' : 'No call found so far.')
        : el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Calls, the newest first'),
          el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ['When', 'Tool', 'Decision', 'Outcome', 'Agent', 'Run'].map((label) => el('th', { role: 'columnheader', scope: 'col' }, label)))),
          rows),
      el('nav', { class: 'pages', 'aria-label': 'Pages' },
        before !== undefined && el('a', { href: address(rest) }, 'Newest'),
        found.next !== undefined && el('a', { href: address({ ...rest, before: String(found.next) }) }, found.calls.length === 0 ? 'Search further back' : 'Older'))),
  };
}
