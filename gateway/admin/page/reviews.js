// reviews.js - the list of live reviews: grouped by rule, the most urgent first, searched and filtered
// here; the details of each come one after the other (details.js). However many wait, few are drawn.
import { query } from './api.js';
import { bulkView } from './bulk.js';
import { detailsOf, fired, learn, toolOf } from './details.js';
import { el, fill, say } from './dom.js';
import { current, live, whole } from './live.js';
import { clock, name, pill, text } from './shown.js';

const FIRST = 10; // cards of a group at first
const FEW = 3; // the same, of many groups
const STEP = 25; // cards that one press adds
const DRAW_MS = 250; // between two drawings because of details

const isMine = (review, person) => review.state === 'open' && review.voters.some((voter) => voter.id === person.subject && voter.vote === undefined);

function excerpt(args) {
  if (args?.kind !== 'object') return null;
  const parts = args.members.slice(0, 4).map(([label, value]) => {
    const shown = value.text === undefined ? '' : [...value.text.slice(0, 120)].slice(0, 60).join('');
    return el('span', { class: 'pair' }, el('span', { class: 'soft' }, name(label)), ' ', text(shown), value.text !== shown && '…');
  });
  const left = args.left ?? args.members.length - 4;
  return el('p', { class: 'excerpt' }, parts, left > 0 && el('span', { class: 'soft' }, ` and ${left} more`));
}

function card(review, person) {
  const own = review.voters.find((voter) => voter.id === person.subject);
  const electors = review.voters.filter((voter) => !voter.stand_in);
  const voted = electors.filter((voter) => (voter.speaker ?? voter.vote) !== undefined).length;
  const known = detailsOf(review.id);
  return el('li', { class: 'card' },
    el('div', { class: 'line' },
      el('h4', {}, el('a', { href: `/reviews/${encodeURIComponent(review.id)}` }, toolOf(known))),
      pill(review.state)),
    known && excerpt(known.args),
    known && fired(known.fired),
    el('p', { class: 'meta' },
      el('span', {}, 'asked by ', name(review.agent_id), review.tenant && [' of ', name(review.tenant)]),
      el('span', {}, `${voted} of ${electors.length} voted`),
      own?.vote !== undefined && el('span', {}, `you: ${own.vote}`),
      clock(review.expires_at, review.state === 'open' ? 'expires in' : 'to be used within', 'over since')));
}

/** The reviews of one rule together, the most urgent first, and so are the groups. */
function grouped(list) {
  const groups = new Map();
  const urgent = list.toSorted((a, b) => (a.expires_at < b.expires_at ? -1 : a.expires_at > b.expires_at ? 1 : a.id < b.id ? -1 : 1));
  for (const review of urgent) {
    const key = `${review.review} ${review.rule}`;
    if (!groups.has(key)) groups.set(key, { key, rule: review.rule, review: review.review, list: [] });
    groups.get(key).list.push(review);
  }
  return [...groups.values()];
}

function options(select, values, first) {
  const own = select.value;
  const all = [...new Set(values)].sort();
  if (own !== '' && !all.includes(own)) all.push(own);
  fill(select, el('option', { value: '' }, first), all.map((value) => el('option', { value, selected: value === own }, name(value).textContent)));
}

function filters(params, changed) {
  const q = el('input', { id: 'find', type: 'search', value: params.get('q') ?? '', autocomplete: 'off', spellcheck: 'false', maxlength: '200' });
  const selects = ['review', 'agent'].map((key) => {
    const value = params.get(key) ?? '';
    return el('select', { id: `of-${key}` }, el('option', { value, selected: true }, value));
  });
  const found = el('p', { class: 'soft small', role: 'status' });
  const element = el('form', { class: 'filter', role: 'search', 'aria-label': 'Reviews', hidden: true },
    el('div', { class: 'field grow' }, el('label', { for: 'find' }, 'Tool, arguments, target or agent'), q),
    el('div', { class: 'field' }, el('label', { for: 'of-review' }, 'Review'), selects[0]),
    el('div', { class: 'field' }, el('label', { for: 'of-agent' }, 'Agent'), selects[1]), found);
  const values = () => ({ q: q.value.trim(), review: selects[0].value, agent: selects[1].value });
  element.addEventListener('submit', (event) => event.preventDefault());
  element.addEventListener('input', () => {
    history.replaceState(null, '', `/reviews${query(values())}`); // a view can be shared
    changed();
  });
  return {
    element, values,
    /** What there is to choose from, and how many of it are found. */
    show(list, n) {
      options(selects[0], list.map((review) => review.review), 'Any');
      options(selects[1], list.map((review) => review.agent_id), 'Any');
      const { q: words, review, agent } = values();
      const isAny = words === '' && review === '' && agent === '';
      element.hidden = list.length <= FIRST && isAny;
      const read = list.filter(({ id }) => detailsOf(id) !== undefined).length;
      const told = `${isAny ? '' : `${n} of ${list.length} found. `}${read < list.length ? `${read} of ${list.length} are read: the search covers these.` : ''}`;
      if (found.textContent !== told) found.textContent = told;
    },
  };
}

function isFound(review, { q, review: of, agent }) {
  if ((of !== '' && review.review !== of) || (agent !== '' && review.agent_id !== agent)) return false;
  const own = `${review.agent_id} ${review.tenant ?? ''} ${review.review} ${review.id}`.toLowerCase();
  return q === '' || (detailsOf(review.id)?.searched ?? own).includes(q.toLowerCase()) || review.id === q;
}

/** Draws a part again, and puts the focus on the same element or its replacement. */
function redraw(body, ...children) {
  const all = () => [...body.querySelectorAll('a[href], button, input, select, textarea')];
  const at = all().indexOf(document.activeElement);
  const key = at < 0 ? null : document.activeElement.getAttribute('href') ?? document.activeElement.id;
  fill(body, ...children);
  if (at < 0) return;
  const now = all();
  (now.find((one) => key !== '' && (one.getAttribute('href') ?? one.id) === key) ?? now[Math.min(at, now.length - 1)] ?? document.querySelector('#main h1')).focus();
}

export function reviewsView(person, params) {
  const body = el('div', {});
  const grown = new Map(); // by key of a group: the cards to draw
  let known = null; // the ids of the last whole list
  let bulk = null; // the vote on several, while it is open
  let ended = false;
  let later = null;

  const group = (own, many, canVote) => {
    const shown = own.list.slice(0, grown.get(own.key) ?? (many ? FEW : FIRST));
    const left = own.list.length - shown.length;
    const several = canVote && own.list.filter((review) => detailsOf(review.id)?.bulk).length;
    const id = (what) => `${what}-${own.key}`.replaceAll(/[^\w-]/g, '_');
    return el('section', { class: 'group', 'aria-labelledby': id('group') },
      el('div', { class: 'line' },
        el('h3', { id: id('group') }, name(own.review), ': ', toolOf(shown.map((review) => detailsOf(review.id)).find(Boolean)), ' ', el('span', { class: 'count' }, String(own.list.length))),
        several > 1 && el('button', { type: 'button', class: 'quiet', id: id('bulk'), onclick: () => vote(own) }, 'Vote on several')),
      el('ul', { class: 'cards' }, shown.map((review) => card(review, person))),
      left > 0 && el('button', { type: 'button', class: 'fold', id: id('more'), onclick: () => {
        grown.set(own.key, shown.length + STEP);
        draw();
      } }, `Show ${Math.min(left, STEP)} more (${left} left)`));
  };
  const part = (title, list, canVote) => {
    if (list.length === 0) return null;
    const groups = grouped(list);
    return el('section', {}, el('h2', {}, title, ' ', el('span', { class: 'count' }, String(list.length))),
      groups.map((own) => group(own, groups.length > 4, canVote)));
  };
  const draw = () => {
    clearTimeout(later);
    later = null;
    if (bulk !== null || ended) return;
    const asked = form.values();
    const list = current.filter((review) => isFound(review, asked));
    form.show(current, list.length);
    const wanted = list.filter((review) => isMine(review, person));
    const open = list.filter((review) => review.state === 'open' && !isMine(review, person));
    redraw(body, part('Waiting for your vote', wanted, true), part('Open', open), part('Approved, not used yet', list.filter((review) => review.state !== 'open')),
      list.length === 0 && el('p', { class: 'nothing' }, current.length > 0 ? 'None of them is found.' : 'Nothing waits. Calls that need an approval appear here by themselves.'));
  };
  const form = filters(params, draw);
  const soon = () => { later ??= setTimeout(draw, DRAW_MS); };
  const vote = (own) => {
    bulk = bulkView(own, person, () => {
      bulk = null;
      draw();
      (document.getElementById(`bulk-${own.key}`.replaceAll(/[^\w-]/g, '_')) ?? document.querySelector('#main h1')).focus();
    });
    form.element.hidden = true;
    fill(body, bulk);
    bulk.querySelector('h2').focus();
  };
  const take = (list) => {
    draw();
    const mine = list.filter((review) => isMine(review, person));
    const fresh = known === null ? [] : mine.filter((review) => !known.has(review.id));
    if (fresh.length > 0) say(fresh.length === 1 ? 'A new call waits for your vote.' : `${fresh.length} new calls wait for your vote.`);
    known = whole ? new Set(list.map((review) => review.id)) : null;
    learn([...grouped(mine), ...grouped(list.filter((review) => !mine.includes(review)))].flatMap((own) => own.list.map(({ id }) => id)), soon);
  };
  const heard = ({ detail }) => take(detail);
  live.addEventListener('reviews', heard);
  take(current);
  return {
    title: 'Reviews',
    element: el('section', {}, el('h1', { tabindex: '-1' }, 'Reviews'), form.element, body, el('p', {}, el('a', { href: '/delegations' }, 'Delegations'), el('span', { class: 'soft' }, ': who votes for whom'))),
    end() {
      ended = true;
      clearTimeout(later);
      live.removeEventListener('reviews', heard);
    },
  };
}
