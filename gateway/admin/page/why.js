// why.js - why a call was decided so, for those who may read the policy: the rule and the constraint
// by file and line, the nearest rule, and an edit of the configuration that would allow the call.
import { why as explain } from './api.js';
import { el, fill, say } from './dom.js';
import { isOfRun, text } from './shown.js';
import { labelList, sourceList } from './sources.js';
import { warning } from './text.js';

const place = (at) => at && text(`${at.file}:${at.line}`);

function nearest({ nearest: rule }) {
  if (!rule) return undefined;
  return [place(rule), rule.is_for !== '' && [', for ', text(rule.is_for)],
    rule.argument !== null && [', refuses ', text(rule.argument), ' alone', rule.accepted !== null && [': it accepts ', text(rule.accepted)]]];
}

/** What the run of the call says about it. */
const run = ({ flow }) => (flow === null ? [] : [
  ['Values came from', flow.values.length > 0 && sourceList(flow.values)],
  ['Rule about the run', flow.rule && [place(flow.rule), ': ', text(flow.rule.condition)]],
  ['Labels came from', flow.labels.length > 0 && labelList(flow.labels)],
  ['What to change', flow.advice !== '' && text(flow.advice)],
]);

/** Terms and their meanings, for a list of facts. */
export const standing = (why) => why === undefined ? [] : [
  ['Rule at', place(why.rule)],
  ['Constraint at', place(why.constraint)],
  ['Its bound', why.constraint && text(why.constraint.bound)],
  ['Would be accepted', why.accepted && text(why.accepted)],
  ['A common mistake', why.hint && text(why.hint)],
  ['Nearest rule', nearest(why)],
  ...run(why),
  ['Policy', why.same_policy === false && 'It has changed since this decision: the lines are those of now.'],
];

const MISSING = {
  none: 'Arguments of this call were not kept.', erased: 'The kept arguments were erased, or their time is over.',
  locked: 'The key of the kept arguments is no longer in the key directory.', undefined: 'Only a subject in content_readers opens the kept arguments of a call.',
};

const command = (id) => el('pre', { class: 'command', tabindex: '0' }, `writ why ${id} --config CONFIG --arguments CALL.json`);

function copying(from) {
  const button = el('button', { type: 'button', class: 'quiet' }, 'Copy');
  button.addEventListener('click', async () => {
    getSelection().selectAllChildren(from);
    try {
      await navigator.clipboard.writeText(from.textContent); // not there over plain HTTP: then it is selected
      say('Copied.');
    } catch {
      say('Selected.');
    }
  });
  return button;
}

function found(why, facts) {
  const lines = why.edit?.split('\n').slice(0, -1);
  const difference = lines && el('pre', { class: 'command', tabindex: '0' }, lines.map((line) => [text(line), '\n']));
  const doubt = lines === undefined ? '' : warning(lines.join(''));
  return el('div', { class: 'edit', tabindex: '-1' }, facts(standing(why)),
    why.note !== '' && el('p', {}, why.note),
    difference && [el('p', {}, 'This edit allows the call, and calls like it: read it first.'), difference,
      doubt !== '' && el('p', { class: 'notice' }, doubt), el('p', {}, copying(difference), ' ', el('span', { class: 'soft small' },
        'The gateway does not write its configuration: apply the edit with patch -p0, run writ check, and reload.'))]);
}

/** For a call that rules refused: the edit that would allow it. With kept arguments, which the gateway opens after it has recorded the look. */
export function remedy({ decision, why, contents: state }, facts) {
  if (why?.in_policy !== true || decision.decision !== 'deny' || isOfRun(why.reason)) return null;
  const shown = el('div', {});
  if (state !== 'kept') {
    fill(shown, el('p', {}, MISSING[state] ?? MISSING.none, ' An edit needs them; on the machine of the gateway:'), command(decision.decision_id));
  } else {
    const button = el('button', { type: 'button', class: 'quiet' }, 'Show the edit');
    const told = el('span', { class: 'soft small' }, 'It opens the kept arguments. The ledger records your name and the time.');
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        const answer = found(await explain(decision.decision_id), facts);
        fill(shown, answer);
        answer.focus();
      } catch (error) {
        button.disabled = false;
        fill(told, `${error.message} ${error.hint ?? ''}`.trim());
        say(error.message);
      }
    });
    fill(shown, el('p', {}, button, ' ', told));
  }
  return el('li', { class: 'event' }, el('span', {}), el('div', {}, el('p', {}, el('strong', {}, 'Make a rule from this')), shown));
}
