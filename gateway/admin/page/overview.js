// overview.js - what happens now: calls, refusals, upstreams, reviews, stops, the ledger.
import { budgets, overview } from './api.js';
import { holder, NEAR, share } from './budgets.js';
import { amount, columns, ranking } from './chart.js';
import { el, fill } from './dom.js';
import { DECISIONS, name, pill, span as lasted, text, when, word } from './shown.js';

const EVERY_MS = 5000;
const SPANS = { hour: 'Last hour', day: 'Last day', week: 'Last week' };
const SERIES = Object.entries(DECISIONS).map(([key, label]) => ({ key, label }));

/** A duration in microseconds as a person says it. */
function micros(us) {
  if (us === undefined) return '–';
  if (us < 1000) return `${amount(us)} µs`;
  return us < 1e6 ? `${amount(us / 1000)} ms` : `${amount(us / 1e6)} s`;
}

function slots(found) {
  const minutes = found.slot_s / 60;
  const short = found.span === 'week' ? { weekday: 'short', hour: '2-digit' } : { hour: '2-digit', minute: '2-digit' };
  return found.calls.map((slot) => {
    const at = new Date(slot.at);
    return {
      label: at.toLocaleString(undefined, short),
      full: at.toLocaleString(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }),
      values: Object.fromEntries(SERIES.map(({ key }) => [key, slot[key] / minutes])),
    };
  });
}

const sum = (found, key) => found.calls.reduce((all, slot) => all + slot[key], 0);

function tile(label, value, note, { href, kind = '' } = {}) {
  const shown = el('span', { class: 'tile-value' }, value);
  return el('li', { class: `tile ${kind}` }, el('span', { class: 'tile-label' }, label),
    href === undefined ? shown : el('a', { href, id: `tile-${href.slice(1)}` }, shown), note && el('span', { class: 'soft small' }, note));
}

/** The overview, with the budgets near their limit for those who may see them. */
async function read(person, span) {
  const [found, used] = await Promise.all([overview(span), person.auditor || person.administrator ? budgets() : undefined]);
  return { ...found, near: used?.budgets.filter((row) => row.frees_at !== undefined && share(row) >= NEAR).sort((a, b) => share(b) - share(a)) };
}

function tiles(found) {
  const refused = sum(found, 'deny');
  const all = SERIES.reduce((total, { key }) => total + sum(found, key), 0);
  const down = found.upstreams?.filter((upstream) => upstream.state !== 'up').length;
  return el('ul', { class: 'tiles' },
    tile('Calls', amount(all), `${amount(all / (found.calls.length * found.slot_s / 60))} a minute`),
    tile('Refused', amount(refused), all > 0 && `${amount(refused / all * 100)} %`),
    tile('Reviews waiting', amount(found.reviews_waiting), null, { href: '/reviews', kind: found.reviews_waiting > 0 ? 'wait' : '' }),
    found.stops && tile('Stops in force', amount(found.stops.length), null, { href: '/stops', kind: found.stops.length > 0 ? 'bad' : '' }),
    found.upstreams && tile('Upstreams up', `${found.upstreams.length - down} of ${found.upstreams.length}`, null, { kind: down > 0 ? 'bad' : '' }),
    found.near && tile('Budgets near their limit', amount(found.near.length), null, { href: '/budgets', kind: found.near.length > 0 ? 'wait' : '' }),
    found.ledger && tile('Ledger', word(found.ledger.state), null, { kind: found.ledger.state === 'ready' ? '' : 'bad' }));
}

function refusals({ refusals: by }) {
  const list = (title, label, { names, others }, show) => ranking(title, label,
    [...names.map((one) => [show(one), one.count]), ...(others > 0 ? [['All others', others]] : [])]);
  const tool = (one) => (one.name === '' ? [one.upstream !== undefined && [name(one.upstream), ' / '], el('em', {}, 'not listed')] : [one.upstream !== undefined && [name(one.upstream), '/'], name(one.name)]);
  const any = by.reason.names.length > 0;
  return el('section', { class: 'panel', 'aria-labelledby': 'refusals' }, el('h2', { id: 'refusals' }, 'Refusals'),
    any ? el('div', { class: 'rankings' },
      list('By reason', 'Reason', by.reason, (one) => (one.name === '' ? 'No reason recorded' : text(one.name))),
      list('By tool', 'Tool', by.tool, tool),
      list('By agent', 'Agent', by.agent, (one) => name(one.name)))
      : el('p', { class: 'soft' }, 'No call was refused in this time.'));
}

function budgetsNear({ near }) {
  if (near === undefined || near.length === 0) return null;
  return el('section', { class: 'panel', 'aria-labelledby': 'near' }, el('h2', { id: 'near' }, 'Budgets near their limit'),
    el('ul', {}, near.slice(0, 10).map((row) => el('li', {}, name(row.budget), ' for ', holder(row), `: ${row.used} of ${row.limit}, free again `, when(row.frees_at)))),
    near.length > 10 && el('p', { class: 'soft' }, `${amount(near.length - 10)} more.`));
}

const SICK = {
  program_changed: () => 'its program is not the one that the configuration names',
  program_not_accepted: (one) => ['its program waits for acceptance: ', el('code', {}, `writ tools program --accept CONFIG ${one.name}`)],
  left_out: () => 'it did not answer a list',
  failing: () => 'every call of the last five minutes failed',
  slow: (one) => `95 % of the calls of the last five minutes within ${micros(one.recent_us)}, in the day before within ${micros(one.before_us)}`,
};

function upstreams({ upstreams: list }) {
  if (list === undefined) return null;
  const heads = ['Upstream', 'State', 'Executed', 'Error', 'Timeout', 'Half within', '95 % within', '99 % within'];
  const cells = (one) => [name(one.name), [pill(one.state), one.why !== undefined && [' ', el('span', { class: 'small' }, SICK[one.why](one))]], amount(one.executed), amount(one.error), amount(one.timeout), micros(one.p50_us), micros(one.p95_us), micros(one.p99_us)];
  return el('section', { class: 'panel', 'aria-labelledby': 'upstreams' }, el('h2', { id: 'upstreams' }, 'Upstreams'),
    el('p', { class: 'soft small' }, 'Times are from the decision to the outcome, of calls that reached the upstream.'),
    el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Upstreams'),
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, heads.map((head) => el('th', { role: 'columnheader', scope: 'col' }, head)))),
      el('tbody', { role: 'rowgroup' }, list.map((one) => el('tr', { role: 'row' }, cells(one).map((cell, i) => el('td', { role: 'cell', 'data-label': heads[i] }, cell)))))));
}

function ledger({ ledger: state, at }) {
  if (state === undefined) return null;
  const facts = [
    ['State', [pill(state.state), state.why && [' ', text(state.why)]]],
    ['Commits', state.p50_us === undefined ? 'None since the gateway began to count' : `half within ${micros(state.p50_us)}, 99 % within ${micros(state.p99_us)}, since the start of the gateway`],
    ['Records', state.records !== undefined && `${amount(state.records)}, ${amount(state.queued)} waiting to be written`],
    ['Checkpoint', state.checkpoint_at && [when(state.checkpoint_at), ` (${lasted(Date.parse(at) - Date.parse(state.checkpoint_at))} ago), over all records`]],
    ['Scrub', state.scrubs === 0 ? 'No complete pass since the start of the gateway' : `${amount(state.scrubs)} complete ${state.scrubs === 1 ? 'pass' : 'passes'} since the start, nothing found`],
    ['Anchors', state.anchored !== undefined && `${amount(state.anchored)} checkpoints sent, ${amount(state.anchor_failures)} failed`],
  ];
  return el('section', { class: 'panel', 'aria-labelledby': 'ledger' }, el('h2', { id: 'ledger' }, 'Ledger'),
    el('dl', { class: 'facts' }, facts.filter(([, value]) => value).map(([label, value]) => el('div', {}, el('dt', {}, label), el('dd', {}, value)))));
}

function parts(found) {
  return [
    !found.complete && el('p', { class: 'notice' }, 'The gateway still reads earlier records: older numbers are too low.',
      found.read_since !== undefined && [' It has read back to ', when(found.read_since), '.']),
    tiles(found),
    el('section', { class: 'panel', 'aria-labelledby': 'calls' }, el('h2', { id: 'calls' }, 'Calls per minute by verdict'),
      columns('calls', 'Calls per minute by verdict', SERIES, slots(found))),
    refusals(found), budgetsNear(found), upstreams(found), ledger(found),
  ];
}

/** New content in place of the old one: what was open stays open, and the focus stays. */
function replace(body, content) {
  const open = [...body.querySelectorAll('details[open]')].map((element) => element.id);
  const focused = body.contains(document.activeElement) ? document.activeElement.id : '';
  fill(body, content);
  for (const id of open) body.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
  if (focused !== '') body.querySelector(`#${CSS.escape(focused)}`)?.focus();
}

export async function overviewView(person, params) {
  const span = Object.hasOwn(SPANS, params.get('span') ?? '') ? params.get('span') : 'hour';
  let found = await read(person, span);
  const body = el('div', {}, parts(found));
  const draw = () => body.isConnected && replace(body, parts(found));
  const renew = async () => {
    if (document.hidden) return;
    found = await read(person, span).catch(() => found);
    draw();
  };
  const timer = setInterval(renew, EVERY_MS);
  addEventListener('resize', draw);
  return {
    end() {
      clearInterval(timer);
      removeEventListener('resize', draw);
    },
    title: 'Overview',
    element: el('section', {},
      el('div', { class: 'line' }, el('h1', { tabindex: '-1' }, 'Overview'),
        el('nav', { class: 'spans', 'aria-label': 'Time' }, Object.entries(SPANS).map(([key, label]) => el('a', { href: `/overview?span=${key}`, 'aria-current': key === span && 'true' }, label)))),
      el('p', { class: 'soft' }, { all: 'All calls of all tenants.', tenant: 'All calls of your tenant.', own: 'Your own calls.' }[found.scope]),
      body),
  };
}
