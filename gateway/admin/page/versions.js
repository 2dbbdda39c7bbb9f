// versions.js - the versions of the policy: when each decided calls, and what differs between two of them.
import { policyDifference, policyHistory } from './api.js';
import { amount } from './chart.js';
import { changes, difference, side } from './difference.js';
import { el, fill, say } from './dom.js';
import { member } from './json.js';
import { digest, name, when } from './shown.js';

const HEADS = ['Version', 'Decisions', 'First', 'Last', 'Loaded'];
const WORDS = { added: '+ Added', removed: '− Removed', changed: '~ Changed' };
const NOTHING = { kind: 'object', members: [] };

/** A value in the form that the digest covers: in values of constraints, ["n", "1.50"] is a number. */
function plain(node, typed = false) {
  if (node.kind === 'object') {
    return { ...node, members: node.members.map(([key, value]) => [key, plain(value, typed || key === 'value' || (key === 'arguments' && value.kind === 'object'))]) };
  }
  if (node.kind !== 'array') return node;
  const [first, ...rest] = node.items;
  if (!typed) return { ...node, items: node.items.map((item) => plain(item)) };
  if (first?.text === 'n') return { kind: 'number', text: rest[0].text };
  return first?.text === 'm' ? plain(rest[0], true) : { ...node, items: rest.map((item) => plain(item, true)) };
}

const dated = (at) => (at === undefined ? '–' : when(at, { short: true }));

function row(version, present) {
  const cells = [[digest(version.policy), version.policy === present && [' ', el('span', { class: 'pill good' }, 'Present')],
    !version.kept && el('span', { class: 'soft small' }, ' rules unknown: not kept')],
  amount(version.decisions), dated(version.first), dated(version.last), dated(version.loaded)];
  return el('tr', { role: 'row' }, cells.map((cell, i) => el('td', { role: 'cell', 'data-label': HEADS[i] }, el('span', {}, cell))));
}

function differing(change, title, before, after) {
  return el('li', { class: 'card' }, el('h3', {}, title, ' ', el('span', { class: 'pill plain' }, change)),
    before !== undefined && after !== undefined ? difference(changes(before, after))
      : before === undefined ? side('added', WORDS.added, after) : side('removed', WORDS.removed, before));
}

function compared({ exact }) {
  const rules = member(exact, 'rules').items, sections = member(exact, 'sections').items;
  const sides = (one) => ['before', 'after'].map((key) => member(one, key)).map((node) => node && plain(node));
  if (rules.length + sections.length === 0) return el('p', { tabindex: '-1' }, 'No rule that you may see differs.');
  return el('ul', { class: 'cards', tabindex: '-1', 'aria-label': 'Differences' },
    rules.map((one) => differing(WORDS[member(one, 'change').text], name(member(one, 'tool').text), ...sides(one))),
    sections.map((one) => {
      const [before = NOTHING, after = NOTHING] = sides(one);
      return differing(WORDS.changed, name(member(one, 'name').text), before, after);
    }));
}

function choice(id, label, kept, present, chosen) {
  const options = kept.map((version) => el('option', { value: version.policy, selected: version.policy === chosen },
    `${version.policy.slice(7, 19)}${version.policy === present ? ', present' : ''}`));
  return el('div', { class: 'field grow' }, el('label', { for: id }, label), el('select', { id }, options));
}

function comparison(found) {
  const kept = found.versions.filter((version) => version.kept);
  if (kept.length < 2) return el('p', { class: 'soft' }, 'The gateway keeps the rules of each version that it loads. There is one so far.');
  const place = el('div', {});
  const form = el('form', { class: 'filter', 'aria-label': 'Compare two versions' },
    choice('from', 'From', kept, found.policy, kept.find((version) => version.policy !== found.policy).policy),
    choice('to', 'To', kept, found.policy, found.policy),
    el('button', { type: 'submit', class: 'quiet', id: 'compare' }, 'Show what differs'));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      fill(place, compared(await policyDifference(form.querySelector('#from').value, form.querySelector('#to').value)));
      place.firstElementChild.focus();
    } catch (error) {
      fill(place, el('p', { class: 'fault', role: 'alert' }, error.status === 404 ? 'The rules of one of them are not kept.' : error.message));
      say(error.message);
    }
  });
  return [form, place];
}

/** The section of the view. */
export async function versions() {
  const found = await policyHistory();
  return el('section', { class: 'panel', 'aria-labelledby': 'versions' }, el('h2', { id: 'versions' }, 'Versions'),
    el('p', { class: 'soft' }, 'The policies that decided calls, by digest',
      found.read_since !== undefined && [', in the records since ', when(found.read_since)], '.',
      !found.complete && ' The gateway still reads earlier records.'),
    el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Versions of the policy'),
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, HEADS.map((head) => el('th', { role: 'columnheader', scope: 'col' }, head)))),
      el('tbody', { role: 'rowgroup' }, found.versions.map((version) => row(version, found.policy)))),
    comparison(found));
}
