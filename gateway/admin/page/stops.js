// stops.js - the stops in force, shown above every view; and, for administrators, what a stop would stop, pulling and
// lifting it.
import { kills, lift, preview, pull } from './api.js';
import { amount } from './chart.js';
import { el, fill, say } from './dom.js';
import { name, text, when } from './shown.js';

const EVERY_MS = 5000;
const KINDS = {
  agent: ['An agent', 'Its agent_id'],
  tool: ['A tool', 'upstream/tool'],
  tenant: ['A tenant', 'Its name'],
  policy: ['A policy', 'Its digest, sha256:...'],
  credential: ['One call', 'Its decision_id'],
};
const WHAT = { agent: 'agent', tool: 'tool', tenant: 'all agents of tenant', policy: 'policy', credential: 'the call' };

// of the answer to a stop or a lift: '' when it holds at every gateway of the ledger
const unsure = ({ confirmed, unconfirmed }) => (confirmed ? ''
  : ` Not confirmed by ${unconfirmed.length > 0 ? unconfirmed.join(', ') : 'the other gateways'}.`);

let timer = null;
let known = null; // ids, once the first list is there

/** Fires 'stops' with the list when it has changed. */
export const stopped = new EventTarget();

const maySee = (person) => person?.auditor === true || person?.administrator === true;

function words(stop) {
  return [WHAT[stop.by], ' ', name(stop.value), stop.tenant !== undefined && stop.by !== 'tenant' && [' of ', name(stop.tenant)]];
}

// above every view: what is stopped, and why
function banner(list) {
  const place = document.getElementById('stopped');
  place.hidden = list.length === 0;
  fill(place, list.length > 0 && el('p', {}, el('strong', {}, list.length === 1 ? 'A stop is in force: ' : `${list.length} stops are in force: `),
    list.slice(0, 3).map((stop, i) => [i > 0 && '; ', words(stop), ' (', text(stop.reason), ')']), list.length > 3 && '; and others', '. ', el('a', { href: '/stops' }, 'All stops')));
}

function take(list) {
  const ids = list.map((stop) => stop.id).join();
  if (ids === known) return;
  if (known !== null) say(list.length === 0 ? 'No stop is in force any more.' : `Stops in force: ${list.length}.`);
  known = ids;
  banner(list);
  stopped.dispatchEvent(new CustomEvent('stops', { detail: list }));
}

async function look() {
  if (document.hidden) return;
  const list = await kills().catch(() => undefined);
  if (list !== undefined && timer !== null) take(list);
}

/** Begins to watch, for who may see stops. */
export async function watch(person) {
  unwatch();
  if (!maySee(person)) return;
  timer = setInterval(look, EVERY_MS);
  await look();
}

export function unwatch() {
  clearInterval(timer);
  timer = null;
  known = null;
  banner([]);
}

// ---- what it would stop

function counts(title, { calls, agent, tool }) {
  const list = ({ names, others }) => [names.map((one, i) => [i > 0 && ', ', one.upstream !== undefined && [name(one.upstream), '/'], name(one.name), ` (${amount(one.count)})`]), others > 0 && ` and others (${amount(others)})`];
  return el('div', {}, el('dt', {}, title), el('dd', {}, calls === 0 ? 'No allowed call' : [`${amount(calls)} allowed ${calls === 1 ? 'call' : 'calls'}: by `, list(agent), '; of ', list(tool)]));
}

function previewed(wanted, found, again) {
  const button = el('button', { type: 'button', class: 'main danger', id: 'pull' }, 'Pull this stop');
  const fault = el('p', { class: 'fault', role: 'alert' });
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const done = await pull(wanted);
      await look();
      await again((done.durable ? 'The stop is in force.' : 'The stop is in force, but could not be written: a restart loses it.') + unsure(done));
    } catch (error) {
      button.disabled = false;
      fill(fault, `${error.message} ${error.hint}`.trim());
    }
  });
  return el('section', { class: 'panel vote', 'aria-labelledby': 'would' }, el('h2', { id: 'would', tabindex: '-1' }, 'It would stop ', text(found.stops)),
    !found.known && el('p', { class: 'notice' }, 'The gateway does not know this name: it is not in the configuration, and none of the last 100,000 calls had it. Compare the spelling.'),
    el('dl', { class: 'facts' }, counts('In the last hour', found.hour), counts('In the last day', found.day), el('div', {}, el('dt', {}, 'Reason'), el('dd', {}, text(wanted.reason)))),
    el('p', { class: 'soft small' }, 'From then on the gateway refuses such calls, and their credentials are revoked, until the stop is lifted. A call that reached its tool is not undone.'),
    button, fault);
}

function form(person, again) {
  const field = (id, label, input) => el('div', { class: 'field grow' }, el('label', { for: id }, label), input);
  const by = el('select', { id: 'by' }, Object.entries(KINDS).map(([key, [label]]) => el('option', { value: key }, label)));
  const value = el('input', { id: 'value', required: true, maxlength: '512', autocomplete: 'off', spellcheck: 'false' });
  const tenant = el('input', { id: 'tenant', maxlength: '512', autocomplete: 'off', spellcheck: 'false' });
  const reason = el('input', { id: 'reason', required: true, maxlength: '1024', autocomplete: 'off' });
  const label = el('label', { for: 'value' }, KINDS.agent[1]);
  const place = el('div', {});
  const fault = el('p', { class: 'fault', role: 'alert' });
  by.addEventListener('change', () => fill(label, KINDS[by.value][1]));
  const element = el('form', { class: 'filter', 'aria-label': 'A new stop' },
    field('by', 'Stop', by), el('div', { class: 'field grow' }, label, value),
    person.tenant === undefined && field('tenant', 'Only of tenant (optional)', tenant), field('reason', 'Reason', reason),
    el('button', { class: 'main', id: 'preview' }, 'Show what it would stop'));
  element.addEventListener('input', () => fill(place)); // what is shown is what is pulled
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    const wanted = { by: by.value, value: value.value.trim(), reason: reason.value.trim(), ...(tenant.value.trim() !== '' && { tenant: tenant.value.trim() }) };
    fill(fault);
    try {
      fill(place, previewed(wanted, await preview(wanted), again));
      place.querySelector('h2').focus();
    } catch (error) {
      fill(fault, `${error.message} ${error.hint}`.trim());
    }
  });
  return el('section', { class: 'panel', 'aria-labelledby': 'new' }, el('h2', { id: 'new' }, 'Stop calls'), element, fault, place);
}

// ---- those in force

function lifter(stop, again) {
  const id = `why-${stop.id}`;
  const why = el('input', { id, required: true, maxlength: '1024', autocomplete: 'off' });
  const fault = el('p', { class: 'fault', role: 'alert' });
  const element = el('form', { class: 'filter' }, el('div', { class: 'field grow' }, el('label', { for: id }, 'Reason to lift it'), why),
    el('button', { class: 'quiet' }, 'Lift', el('span', { class: 'unseen' }, ' the stop of ', words(stop))));
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const done = await lift(stop.id, why.value.trim());
      await look();
      await again(`The stop is lifted.${unsure(done)}`);
    } catch (error) {
      fill(fault, `${error.message} ${error.hint}`.trim());
    }
  });
  return [element, fault];
}

function card(stop, person, again) {
  return el('li', { class: 'card stop' }, el('h3', {}, 'Calls of ', words(stop)),
    el('p', {}, text(stop.reason)),
    el('p', { class: 'meta' }, el('span', {}, 'since ', when(stop.at)), el('span', {}, 'by ', name(stop.who))),
    person.administrator && lifter(stop, again));
}

export async function stopsView(person) {
  const body = el('div', {});
  const draw = (list) => fill(body, list.length === 0 ? el('p', { class: 'nothing' }, 'No stop is in force.')
    : el('ul', { class: 'cards' }, list.map((stop) => card(stop, person, again))));
  const title = el('h1', { tabindex: '-1' }, 'Stops');
  const entry = el('div', {});
  const again = async (said) => { // after a change: the form is empty, and the focus at the beginning
    if (person.administrator) fill(entry, form(person, again));
    draw(await kills());
    title.focus();
    say(said);
  };
  const heard = ({ detail }) => {
    if (!body.contains(document.activeElement)) draw(detail);
  };
  draw(await kills());
  if (person.administrator) fill(entry, form(person, again));
  stopped.addEventListener('stops', heard);
  return {
    title: 'Stops',
    end: () => stopped.removeEventListener('stops', heard),
    element: el('section', {}, title,
      el('p', { class: 'soft' }, 'A stop is above every rule: the gateway refuses the calls that it names, also after a restart, until it is lifted.'),
      el('h2', {}, 'In force'), body, entry),
  };
}
