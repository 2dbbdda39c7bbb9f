// replay.js - an edit of the rules, tried on the kept calls of the past: the verdicts that would be others.
import { replay } from './api.js';
import { amount } from './chart.js';
import { el, fill, say } from './dom.js';
import { digest, name, text, when } from './shown.js';

const SPANS = { hour: ['the last hour', 3600], day: ['the last day', 86_400], week: ['the last week', 604_800] };
const CHANGES = { refused: 'Newly refused', review: 'Newly under review', allowed: 'Newly allowed' };
const HEADS = ['Change', 'Calls', 'Tool', 'Agent', 'Because', 'Example'];
const SHOWN = 200;

function because(group) {
  const reason = group.change === 'allowed' ? group.was_reason : group.reason;
  return [reason !== null && text(reason), group.constraint !== null && [': ', text(group.constraint)],
    group.argument !== null && [' at ', text(group.argument)],
    group.file !== null && el('span', { class: 'soft small' }, ' ', text(`${group.file}:${group.line}`))];
}

function row(group) {
  const id = group.example.decision_id;
  const cells = [CHANGES[group.change], amount(group.calls), [name(group.upstream), '/', name(group.tool)],
    [name(group.agent_id), group.tenant !== null && [' of ', name(group.tenant)]], because(group),
    el('a', { href: `/ledger/${encodeURIComponent(id)}` }, when(group.example.issued_at, { short: true }))];
  return el('tr', { role: 'row' }, cells.map((cell, i) => el('td', { role: 'cell', 'data-label': HEADS[i] }, el('span', {}, cell))));
}

function undecided(found) {
  const parts = [[found.not_kept, 'not kept'], [found.erased, 'erased'], [found.locked, 'without their key'],
    [found.not_compared, 'refused for another cause than the policy'], [found.uncertain, 'without a certain answer']].filter(([n]) => n > 0);
  return parts.length > 0 && el('p', { class: 'soft' }, 'Not compared: ', parts.map(([n, label], i) => [i > 0 && ', ', `${amount(n)} ${label}`]), '.');
}

function result(found) {
  const changed = found.refused + found.review + found.allowed;
  return el('div', { tabindex: '-1', id: 'replayed' },
    el('p', {}, el('strong', {}, changed === 0 ? 'No verdict changes.' : `${amount(changed)} verdicts change: ${amount(found.refused)} newly refused, ${amount(found.review)} newly under review, ${amount(found.allowed)} newly allowed.`),
      ` ${amount(found.decided)} of ${amount(found.calls)} calls were decided again, by the edit `, digest(found.policy_digest), ' and by the present policy.'),
    !found.complete && el('p', { class: 'notice' }, 'The replay ended at its limit of calls and time. Later calls were not decided',
      found.until !== undefined && [': those after ', when(found.until)], '. Choose a shorter time, or use writ policy replay.'),
    undecided(found),
    found.groups.length > 0 && el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Verdicts that change'),
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, HEADS.map((head) => el('th', { role: 'columnheader', scope: 'col' }, head)))),
      el('tbody', { role: 'rowgroup' }, found.groups.slice(0, SHOWN).map(row))),
    (found.groups.length > SHOWN || found.ungrouped > 0) && el('p', { class: 'soft' }, `${amount(Math.max(0, found.groups.length - SHOWN))} more groups; writ policy replay shows all.`));
}

/** The section of the view, for those who may read contents of all tenants. `files`: those that have rules. */
export function attempt(person, files) {
  if (person.content_reader !== true || person.tenant !== undefined) return null;
  const edit = el('textarea', { id: 'edit', rows: '8', spellcheck: 'false', autocomplete: 'off', required: true });
  const file = el('select', { id: 'file' }, files.map((one) => el('option', { value: one }, one)));
  const time = el('select', { id: 'time' }, Object.entries(SPANS).map(([key, [label]]) => el('option', { value: key, selected: key === 'day' }, label)));
  const button = el('button', { type: 'submit', class: 'main', id: 'try' }, 'Replay');
  const place = el('div', {});
  const form = el('form', { 'aria-label': 'Try an edit' },
    el('label', { for: 'edit' }, 'The option tools, with every rule of the file'), edit,
    el('div', { class: 'filter' }, el('div', { class: 'field grow' }, el('label', { for: 'file' }, 'In place of the rules of'), file),
      el('div', { class: 'field' }, el('label', { for: 'time' }, 'On the calls of'), time), button));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    fill(place, el('p', { role: 'status' }, 'The gateway decides the calls again.'));
    try {
      const since = new Date(Date.now() - SPANS[time.value][1] * 1000).toISOString();
      const found = await replay({ text: edit.value, since, ...(file.value !== '' && { file: file.value }) });
      fill(place, found.fault !== undefined ? el('p', { class: 'fault', role: 'alert', tabindex: '-1' }, text(found.fault)) : result(found));
      place.firstElementChild.focus();
    } catch (error) {
      fill(place, el('p', { class: 'fault', role: 'alert' }, `${error.message} ${error.hint ?? ''}`.trim()));
      say(error.message);
    }
    button.disabled = false;
  });
  return el('section', { class: 'panel', 'aria-labelledby': 'attempt' }, el('h2', { id: 'attempt' }, 'Try an edit'),
    el('p', { class: 'soft' }, 'The gateway decides kept calls again by your rules, and shows whose verdict would change. It keeps nothing of the edit. It opens the kept arguments: the ledger records your name and the time.'),
    form, place);
}
