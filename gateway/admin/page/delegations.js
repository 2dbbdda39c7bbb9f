// delegations.js - who votes for whom: the delegations of this person and to it, setting and revoking them.
import { delegate, delegations, revokeDelegation } from './api.js';
import { el, fill, say } from './dom.js';
import { name, when } from './shown.js';

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** A time as a field of the browser's own zone takes it. */
const local = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

const listed = (list) => list.map((one, i) => [i > 0 && ', ', name(one)]);

// whom this person may name: each with the reviews that permit it, and the longest time
function choices(may) {
  const found = new Map();
  for (const { review, delegates, longest_ms } of may) {
    for (const one of delegates) {
      const entry = found.get(one) ?? { reviews: [], longest: 0 };
      found.set(one, { reviews: [...entry.reviews, review], longest: Math.max(entry.longest, longest_ms) });
    }
  }
  return found;
}

function revoker(one, again) {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const button = el('button', { type: 'button', class: 'quiet' }, 'Revoke', el('span', { class: 'unseen' }, ' the delegation of ', name(one.voter), ' to ', name(one.delegate)));
  button.addEventListener('click', async () => {
    if (!button.hasAttribute('data-sure')) { // a second press
      button.setAttribute('data-sure', '');
      button.firstChild.textContent = 'Press again to revoke';
      return;
    }
    button.disabled = true;
    try {
      await revokeDelegation(one.id);
      await again('The delegation is revoked.');
    } catch (error) {
      button.disabled = false;
      fill(fault, `${error.message} ${error.hint}`.trim());
    }
  });
  return [button, fault];
}

function card(one, again) {
  return el('li', { class: 'card' }, el('h3', {}, name(one.delegate), ' votes for ', name(one.voter)),
    el('p', {}, one.from !== undefined && Date.parse(one.from) > Date.now() && ['from ', when(one.from), ' '], 'until ', when(one.until), ', for ', one.tools === undefined ? 'all tools' : listed(one.tools)),
    el('p', { class: 'meta' }, el('span', {}, one.reviews.length > 0 ? ['in ', listed(one.reviews)] : 'in no review as it is configured now'),
      el('span', {}, 'set ', when(one.set_at), one.signed && ', signed')),
    one.revocable && revoker(one, again));
}

// the pages after the first one, each below the one before
function pager(list, first, again) {
  let next = first;
  const fault = el('p', { class: 'fault', role: 'alert' });
  const button = el('button', { type: 'button', class: 'quiet', id: 'more' }, 'Show more');
  button.addEventListener('click', async () => {
    button.disabled = true;
    fill(fault);
    try {
      const found = await delegations(next);
      const cards = found.delegations.map((one) => card(one, again));
      list.append(...cards);
      next = found.next;
      cards[0]?.setAttribute('tabindex', '-1');
      cards[0]?.focus();
      say(`${cards.length} more.`);
    } catch (error) {
      fill(fault, `${error.message} ${error.hint}`.trim());
    }
    button.disabled = false;
    button.hidden = next === undefined;
  });
  return [button, fault];
}

function form(found, again) {
  const may = choices(found.may);
  const field = (id, label, input) => el('div', { class: 'field grow' }, el('label', { for: id }, label), input);
  const to = el('select', { id: 'delegate' }, [...may.keys()].map((one) => el('option', { value: one }, one)));
  const end = el('input', { id: 'until', type: 'datetime-local', required: true });
  const tools = el('input', { id: 'tools', maxlength: '4096', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'delegation-help' });
  const help = el('p', { class: 'soft small', id: 'delegation-help' });
  const fault = el('p', { class: 'fault', role: 'alert' });
  const draw = () => {
    const { reviews, longest } = may.get(to.value);
    end.min = local(new Date());
    end.max = local(new Date(Date.now() + longest));
    fill(help, 'Counts in ', listed(reviews), ', in reviews that open from now on, until you vote yourself. Tools are patterns such as pay/*, with commas between; without any it is for all.');
  };
  const element = el('form', { class: 'filter', 'aria-label': 'A new delegation' },
    field('delegate', 'Who votes for you', to), field('until', 'Until', end), field('tools', 'Only for tools (optional)', tools),
    el('button', { class: 'main', id: 'set' }, 'Let them vote for you'));
  to.addEventListener('change', draw);
  draw();
  end.value = local(new Date(Date.now() + Math.min(WEEK_MS, may.get(to.value).longest) - 60_000));
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    const patterns = tools.value.split(',').map((one) => one.trim()).filter((one) => one !== '');
    fill(fault);
    if (tools.value !== '' && patterns.length === 0) { // not all tools: the person meant some
      fill(fault, 'Name at least one pattern, such as pay/*, or leave the field empty for all tools.');
      tools.focus();
      return;
    }
    try {
      await delegate({ delegate: to.value, until: new Date(end.value).toISOString(), ...(patterns.length > 0 && { tools: patterns }) });
      await again('The delegation is set.');
    } catch (error) {
      fill(fault, `${[error.message, error.detail].filter(Boolean).join(': ')}. ${error.hint ?? ''}`.trim());
    }
  });
  return el('section', { class: 'panel', 'aria-labelledby': 'new' }, el('h2', { id: 'new' }, 'Let another one vote for you'), element, help, fault);
}

function signing() {
  return el('section', { class: 'panel', 'aria-labelledby': 'new' }, el('h2', { id: 'new' }, 'Your delegations are signed'),
    el('p', { class: 'soft' }, 'They need a signature of your own key, which this page does not have. Set one with:'),
    el('pre', { class: 'command', tabindex: '0' }, `writ review delegate ${location.origin} NAME --for 7d --token FILE --key FILE`));
}

function entry(found, again) {
  if (found.may.length === 0) return el('p', { class: 'soft' }, 'No review lets you name another one.');
  return found.signs ? signing() : form(found, again);
}

export async function delegationsView() {
  const body = el('div', {});
  const place = el('div', {});
  const title = el('h1', { tabindex: '-1' }, 'Delegations');
  const draw = (found) => {
    const list = el('ul', { class: 'cards' }, found.delegations.map((one) => card(one, again)));
    fill(body, found.delegations.length === 0 ? el('p', { class: 'nothing' }, 'No delegation is in force.') : list,
      found.next !== undefined && pager(list, found.next, again));
    fill(place, entry(found, again));
  };
  const again = async (said) => { // after a change: the form is empty, and the focus at the beginning
    draw(await delegations());
    title.focus();
    say(said);
  };
  draw(await delegations());
  return {
    title: 'Delegations',
    element: el('section', {}, title,
      el('p', { class: 'soft' }, 'Another one votes for a voter, for a time. The vote of the voter itself comes first, and the ledger keeps who set what.'),
      el('h2', {}, 'In force, and later'), body, place),
  };
}
