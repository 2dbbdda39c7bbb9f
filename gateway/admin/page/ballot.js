// ballot.js - the choices of a vote or of a ranking, and what is wrong with one.
import { el } from './dom.js';

const FEEDBACK_MAX = 4096; // bytes
const PLACES = ['Best', 'Second', 'Third'];

/** The word of a vote, its label, and what it does. */
export const CHOICES = [
  ['approve', 'Approve', 'Permit the call once, exactly as shown here.'],
  ['modify', 'Ask for changes', 'Refuse this call, and say what to change.'],
  ['reject', 'Reject', 'Refuse the call.'],
  ['abstain', 'Abstain', 'Leave the verdict to the others; you count for the quorum.'],
];

/** A candidate is a number. */
export const isCandidate = (option) => /^[1-8]$/.test(option);

const labelOf = (vote) => (isCandidate(vote) ? `Candidate ${vote}` : CHOICES.find(([value]) => value === vote)[1]);
const placeOf = (i) => PLACES[i] ?? `Place ${i + 1}`;

/** A vote, or the ranking of a vote, in words. */
export const inWords = ({ vote, ranking }) => (ranking ?? [vote]).map((one) => labelOf(one).toLowerCase()).join(', then ');

/** One of the votes. */
function plain() {
  const radios = CHOICES.map(([value]) => el('input', { type: 'radio', name: 'vote', id: `vote-${value}`, value, 'aria-describedby': `about-${value}` }));
  return {
    first: radios[0],
    element: el('div', { class: 'choices' }, CHOICES.map(([value, label, about], i) => el('div', { class: `choice ${value}` }, radios[i], el('label', { for: `vote-${value}` }, label), el('p', { class: 'soft small', id: `about-${value}` }, about)))),
    value: () => ({ vote: radios.find((radio) => radio.checked)?.value }),
  };
}

/** A place for each option; abstain instead of the best one leaves the others alone. */
function ranked(options) {
  const selects = options.map((_, i) => el('select', { id: `place-${i + 1}` }, el('option', { value: '' }, 'Choose'),
    (i === 0 ? [...options, 'abstain'] : options).map((option) => el('option', { value: option }, labelOf(option)))));
  return {
    first: selects[0], ranks: true,
    element: el('div', { class: 'choices' }, selects.map((select, i) => el('div', { class: 'line' }, el('label', { for: select.id }, placeOf(i)), select))),
    value: () => {
      const ranking = selects.map((select) => select.value);
      if (ranking[0] === 'abstain') return { vote: 'abstain' };
      return new Set(ranking).size === options.length && !ranking.includes('') ? { vote: ranking[0], ranking } : {};
    },
  };
}

/** The part of the form that has the choice: its element, its first control, and the value so far. */
export const choicesOf = (review) => (review.options === undefined ? plain() : ranked(review.options));

/** What is wrong, and the element to correct; null: nothing. */
export function wrongBallot({ vote, confidence }, said, choices, feedback, sure) {
  if (vote === undefined) return [choices.ranks ? 'Give each option one place.' : 'Choose a vote first.', choices.first];
  if (sure !== null && vote !== 'abstain' && !/^(0(\.\d+)?|1(\.0+)?)$/.test(confidence)) return ['Say how sure you are: a number from 0 to 1.', sure];
  if (vote === 'modify' && said === '') return ['Say what should be different.', feedback];
  return new TextEncoder().encode(said).length > FEEDBACK_MAX ? [`The feedback is longer than ${FEEDBACK_MAX} bytes.`, feedback] : null;
}
