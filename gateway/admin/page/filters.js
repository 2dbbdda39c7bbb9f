// filters.js - the filters of the list of calls: a form, and the same in the address, so that a view
// can be shared.
import { query } from './api.js';
import { el } from './dom.js';
import { DECISIONS, OF_RUNS, OUTCOMES, word } from './shown.js';

/** The names in the address; those after `outcome` are under "More filters". */
const NAMES = ['q', 'decision', 'outcome', 'tool', 'upstream', 'agent', 'reason', 'run', 'since', 'until'];
const TEXTS = [['tool', 'Tool'], ['upstream', 'Upstream'], ['agent', 'Agent'], ['reason', 'Reason'], ['run', 'Run']];
const TIMES = [['since', 'Decided at or after'], ['until', 'Decided before']];

/** The filters, and the place to go on at (`before`), that an address has. */
export const read = (params) => Object.fromEntries([...NAMES, 'before'].filter((key) => params.get(key)).map((key) => [key, params.get(key)]));

/** The address of a view of the list. */
export const address = (filter) => `/ledger${query(filter)}`;

// a time of the address is in UTC, one of the form in the zone of the browser
function toForm(iso) {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - 60_000 * date.getTimezoneOffset()).toISOString().slice(0, 19);
}

function fromForm(value) {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

function choice(name, values, own) {
  return el('select', { id: `by-${name}`, name }, ['', ...values].map((value) => el('option', { value, selected: own === value }, value === '' ? 'Any' : value === 'none' ? 'None yet' : word(value))));
}

const field = (name, label, input, more = '') => el('div', { class: `field ${more}` }, el('label', { for: `by-${name}` }, label), input);

/** The form; `go` is called with the new address. */
export function form(filter, go) {
  const text = (name) => el('input', { id: `by-${name}`, name, value: filter[name] ?? '', autocomplete: 'off', spellcheck: 'false', maxlength: '200' });
  const time = (name) => el('input', { id: `by-${name}`, name, type: 'datetime-local', step: '1', value: toForm(filter[name]) });
  const q = text('q');
  q.setAttribute('type', 'search');
  const more = [...TEXTS, ...TIMES].filter(([name]) => filter[name] !== undefined);
  const element = el('form', { class: 'filter', role: 'search', 'aria-label': 'Calls' },
    field('q', 'Tool, agent, run or id', q, 'grow'),
    field('decision', 'Decision', choice('decision', Object.keys({ ...DECISIONS, ...OF_RUNS }), filter.decision)),
    field('outcome', 'Outcome', choice('outcome', [...OUTCOMES, 'none'], filter.outcome)),
    el('button', { class: 'main' }, 'Search'),
    el('details', { open: more.length > 0 }, el('summary', {}, 'More filters', more.length > 0 && ` (${more.length})`),
      el('div', { class: 'filter' },
        TEXTS.map(([name, label]) => field(name, label, text(name))),
        TIMES.map(([name, label]) => field(name, label, time(name))))),
    NAMES.some((name) => filter[name] !== undefined) && el('a', { href: '/ledger' }, 'Remove all filters'));
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const asked = Object.fromEntries(NAMES.map((name) => [name, element.elements[name].value.trim()]));
    for (const [name] of TIMES) asked[name] = fromForm(asked[name]);
    go(address(asked));
  });
  return element;
}
