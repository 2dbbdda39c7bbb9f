// budgets.js - what is used and left of each budget, by agent, tenant and tool, and when it is free again.
import { budgets } from './api.js';
import { amount, meter } from './chart.js';
import { el, fill } from './dom.js';
import { clock, name, span } from './shown.js';

const HEADS = ['Budget', 'For', 'Used', 'Left', 'Frees'];
const EVERY_MS = 10_000;
export const NEAR = 0.8; // of the limit

/** How much of it is used, 0 to 1 and more; of a budget of nothing, all. The digits of the amounts stay as they are. */
export const share = (row) => (Number(row.limit) > 0 ? Number(row.used) / Number(row.limit) : 1);

/** For whom a counter counts. */
export function holder(row) {
  const parts = [['agent_id', 'agent'], ['tenant', 'tenant'], ['upstream', 'upstream'], ['tool', 'tool']].filter(([key]) => row[key] !== undefined)
    .map(([key, label]) => [`${label} `, name(row[key])]);
  if (parts.length > 0) return parts.map((part, i) => [i > 0 && ', ', part]);
  return row.frees_at === undefined ? 'no call yet' : 'all together';
}

function line(row) {
  const used = share(row);
  const cells = [
    [el('strong', {}, name(row.budget)), el('br'), el('span', { class: 'soft small' }, `every ${span(row.window_us / 1000)}`)],
    holder(row),
    [meter(used, used >= NEAR ? 'deny' : ''), el('span', { class: 'small' }, `${row.used} of ${row.limit}`)],
    used >= NEAR ? el('span', { class: 'pill bad' }, row.left) : row.left,
    row.frees_at === undefined ? el('span', { class: 'soft' }, 'nothing is used') : clock(row.frees_at, 'in', 'now, since'),
  ];
  return el('tr', { role: 'row' }, cells.map((cell, i) => el('td', { role: 'cell', 'data-label': HEADS[i] }, el('span', { class: 'cell' }, cell))));
}

export async function budgetsView() {
  const rows = el('tbody', { role: 'rowgroup' });
  const notes = el('div', {});
  const search = el('input', { id: 'find', type: 'search', autocomplete: 'off', spellcheck: 'false' });
  let found = await budgets();
  const draw = () => {
    const wanted = search.value.trim().toLowerCase();
    const list = found.budgets.filter((row) => [row.budget, row.agent_id, row.tenant, row.upstream, row.tool].some((text) => text?.toLowerCase().includes(wanted)))
      .sort((a, b) => share(b) - share(a));
    fill(rows, list.slice(0, 500).map(line));
    fill(notes, !found.complete && el('p', { class: 'notice' }, 'The gateway still reads earlier records: what is used is too low.'),
      list.length === 0 && el('p', { class: 'nothing' }, found.budgets.length === 0 ? 'The configuration has no budget.' : 'No budget found.'),
      (list.length > 500 || found.others > 0) && el('p', { class: 'soft' }, `${amount(Math.max(0, list.length - 500) + found.others)} more are not shown.`));
  };
  const timer = setInterval(async () => {
    if (document.hidden) return;
    found = await budgets().catch(() => found);
    if (rows.isConnected) draw();
  }, EVERY_MS);
  search.addEventListener('input', draw);
  draw();
  const element = el('form', { class: 'filter', role: 'search', 'aria-label': 'Budgets' },
    el('div', { class: 'field grow' }, el('label', { for: 'find' }, 'Budget, agent, tenant or tool'), search));
  element.addEventListener('submit', (event) => event.preventDefault());
  return {
    title: 'Budgets',
    end: () => clearInterval(timer),
    element: el('section', {}, el('h1', { tabindex: '-1' }, 'Budgets'),
      el('p', { class: 'soft' }, 'What is used in the present window, the fullest first. At its end all of it is free again.'), element, notes,
      el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Budgets, the fullest first'),
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, HEADS.map((head) => el('th', { role: 'columnheader', scope: 'col' }, head)))), rows)),
  };
}
