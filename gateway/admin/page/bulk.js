// bulk.js - a vote on several reviews of one rule, where the review is configured for it: one vote for
// each, with the digest of that review. Only a call that is completely on the screen can be chosen;
// the gateway refuses the others too.
import { act } from './api.js';
import { CHOICES, wrongBallot } from './ballot.js';
import { detailsOf, fired, toolOf } from './details.js';
import { el, fill } from './dom.js';
import { clock, name } from './shown.js';
import { folded, tree } from './tree.js';

const STEP = 50; // calls that one press adds
const AT_ONCE = 4; // votes under way

function call(review, changed) {
  const details = detailsOf(review.id);
  const box = el('input', { type: 'checkbox', id: `choose-${review.id}`, onchange: changed });
  const shown = el('div', { class: 'whole' }, details.args !== undefined && tree(details.args), details.state !== undefined && [el('p', { class: 'soft small' }, 'State of the target'), tree(details.state)]);
  if (folded(shown) > 0) box.disabled = true; // it cannot be read here
  const told = el('p', { class: 'fault' });
  const element = el('li', { class: 'panel pick' },
    box, el('label', { for: box.id }, toolOf(details), el('span', { class: 'soft small' }, ' asked by ', name(review.agent_id), ' ')),
    clock(review.expires_at, 'expires in', 'over since'),
    shown, fired(details.fired), el('p', { class: 'small' }, el('a', { href: `/reviews/${encodeURIComponent(review.id)}` }, 'Open it')), told);
  return { review, box, element, told };
}

/** Casts the votes, a few at a time; calls `each` after each one with its error or null. */
async function castAll(chosen, ballot, each) {
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < chosen.length) {
      const own = chosen[next++];
      try {
        await act(own.review.id, 'vote', { review_digest: own.review.review_digest, bulk: own.review.rule, ...ballot });
        each(own, null);
      } catch (error) {
        each(own, error);
      }
    }
  }));
}

/** The view; `end` is called when the person goes back to the list. */
export function bulkView(group, person, end) {
  const able = group.list.filter((review) => detailsOf(review.id)?.bulk);
  const others = group.list.length - able.length;
  const list = el('ul', { class: 'bulk' });
  const told = el('p', { role: 'status', tabindex: '-1', id: 'bulk-told' });
  const fault = el('p', { class: 'fault', role: 'alert' });
  const cast = el('button', { class: 'main' });
  const all = el('button', { type: 'button', class: 'quiet', id: 'bulk-all' });
  const more = el('button', { type: 'button', class: 'fold', id: 'bulk-more' });
  const feedback = el('textarea', { id: 'bulk-feedback', rows: '2' });
  const radios = CHOICES.map(([value]) => el('input', { type: 'radio', name: 'vote', id: `bulk-${value}`, value }));
  let rows = [];
  let drawn = 0;

  const open = () => rows.filter(({ box }) => !box.disabled);
  const chosen = () => open().filter(({ box }) => box.checked);
  const around = () => {
    const n = chosen().length;
    const label = CHOICES.find((_, i) => radios[i].checked)?.[1].toLowerCase();
    fill(cast, `Cast ${n} ${n === 1 ? 'vote' : 'votes'}${label ? `: ${label}` : ''}`);
    const isAll = n > 0 && n === open().length;
    fill(all, isAll ? 'Choose none' : `Choose all ${open().length} shown`);
    more.hidden = drawn >= able.length;
    fill(more, `Show ${Math.min(STEP, able.length - drawn)} more (${able.length - drawn} left)`);
  };
  const grow = () => {
    const fresh = able.slice(drawn, drawn + STEP).map((review) => call(review, around));
    drawn += fresh.length;
    rows = [...rows, ...fresh];
    list.append(...fresh.map(({ element }) => element));
    around();
    return fresh;
  };
  const form = el('form', { class: 'panel vote ballot', novalidate: true },
    el('fieldset', {}, el('legend', {}, 'Your vote on each chosen call'),
      el('div', { class: 'choices' }, CHOICES.map(([value, label], i) => el('div', { class: `choice ${value}` }, radios[i], el('label', { for: `bulk-${value}` }, label))))),
    el('label', { for: 'bulk-feedback' }, 'Feedback'), feedback, fault, el('div', { class: 'line' }, cast, all), told);

  all.addEventListener('click', () => {
    const is = chosen().length !== open().length;
    for (const { box } of open()) box.checked = is;
    around();
  });
  more.addEventListener('click', () => grow()[0]?.box.focus());
  form.addEventListener('change', around);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (cast.hasAttribute('aria-disabled')) return;
    const picked = chosen();
    const vote = radios.find((radio) => radio.checked)?.value;
    const said = feedback.value.trim();
    const wrong = picked.length === 0 ? ['Choose calls first.', all] : wrongBallot({ vote }, said, { first: radios[0] }, feedback, null);
    fill(fault, wrong?.[0]);
    if (wrong !== null) {
      wrong[1].focus();
      return;
    }
    let recorded = 0, refused = 0;
    for (const { box } of picked) box.disabled = true;
    cast.setAttribute('aria-disabled', 'true'); // a disabled one would lose the focus
    await castAll(picked, { vote, ...(said !== '' && { feedback: said }) }, (own, error) => {
      if (error === null) {
        recorded++;
        own.element.remove();
        rows = rows.filter((row) => row !== own);
      } else {
        refused++;
        own.box.disabled = false;
        own.box.checked = false;
        fill(own.told, error.message, error.hint && ` ${error.hint}`);
      }
      fill(told, `${recorded} of ${picked.length} votes are recorded.`);
    });
    cast.removeAttribute('aria-disabled');
    fill(told, `${recorded} ${recorded === 1 ? 'vote is' : 'votes are'} recorded.`, refused > 0 && ` ${refused} ${refused === 1 ? 'was' : 'were'} refused: each says why.`);
    around();
  });
  grow();
  return el('section', { class: 'several' },
    el('p', { class: 'crumb' }, el('button', { type: 'button', class: 'quiet', onclick: end }, 'Back to the list')),
    el('h2', { tabindex: '-1' }, 'Vote on several: ', name(group.review)),
    el('p', {}, 'Each chosen call gets a vote of its own, with its own digest. Read each one.'),
    others > 0 && el('p', { class: 'soft' }, `${others} more ${others === 1 ? 'call' : 'calls'} of this rule cannot be voted on here: too long to be shown whole, with characters that hide or look like others, or changed since a review before. Open each from the list.`),
    list, more, form);
}
