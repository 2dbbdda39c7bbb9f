// reviews.js - the list of live reviews.
import { review as read } from './api.js';
import { el, fill, say } from './dom.js';
import { current, live } from './live.js';
import { clock, name, pill, text } from './shown.js';

const details = new Map(); // id -> what never changes about it: tool, target, arguments
const KEPT = 500;

async function learn(id) {
  if (details.has(id)) return;
  if (details.size > KEPT) details.clear();
  const { decision, arguments: args } = await read(id);
  details.set(id, { tool: decision.tool, upstream: decision.extensions?.writ?.upstream, target: decision.target, args });
}

function excerpt(args) {
  if (args?.kind !== 'object') return null;
  const parts = args.members.slice(0, 4).map(([label, value]) => {
    const shown = value.text === undefined ? '' : [...value.text.slice(0, 120)].slice(0, 60).join('');
    return el('span', { class: 'pair' }, el('span', { class: 'soft' }, name(label)), ' ', text(shown), value.text !== shown && '…');
  });
  return el('p', { class: 'excerpt' }, parts, args.members.length > 4 && el('span', { class: 'soft' }, ` and ${args.members.length - 4} more`));
}

function card(review, person) {
  const own = review.voters.find((voter) => voter.id === person.subject);
  const voted = review.voters.filter((voter) => voter.vote !== undefined).length;
  const known = details.get(review.id);
  return el('li', { class: 'card' },
    el('div', { class: 'line' },
      el('h3', {}, el('a', { href: `/reviews/${encodeURIComponent(review.id)}` }, known === undefined ? 'A call' : [known.upstream !== undefined && [name(known.upstream), '/'], name(known.tool)])),
      pill(review.state)),
    known && excerpt(known.args),
    el('p', { class: 'meta' },
      el('span', {}, 'asked by ', name(review.agent_id), review.tenant && [' of ', name(review.tenant)]),
      el('span', {}, name(review.review)),
      el('span', {}, `${voted} of ${review.voters.length} voted`),
      own?.vote !== undefined && el('span', {}, `you: ${own.vote}`),
      clock(review.expires_at, review.state === 'open' ? 'expires in' : 'to be used within', 'over since')));
}

function group(title, list, person) {
  if (list.length === 0) return null;
  return el('section', {}, el('h2', {}, title, ' ', el('span', { class: 'count' }, String(list.length))), el('ul', { class: 'cards' }, list.map((review) => card(review, person))));
}

export function reviewsView(person) {
  const body = el('div', {});
  let known = null;
  let ended = false;

  const draw = (list) => {
    const wanted = list.filter((review) => review.state === 'open' && review.voters.some((voter) => voter.id === person.subject && voter.vote === undefined));
    const open = list.filter((review) => review.state === 'open' && !wanted.includes(review));
    const others = list.filter((review) => review.state !== 'open');
    const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    fill(body, group('Waiting for your vote', wanted, person), group('Open', open, person), group('Approved, not used yet', others, person),
      list.length === 0 && el('p', { class: 'nothing' }, 'Nothing waits. Calls that need an approval appear here by themselves.'));
    if (focused !== null) body.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    const fresh = known === null ? [] : wanted.filter((review) => !known.has(review.id));
    if (fresh.length > 0) say(fresh.length === 1 ? 'A new call waits for your vote.' : `${fresh.length} new calls wait for your vote.`);
    known = new Set(list.map((review) => review.id));
  };
  const take = async (list) => {
    draw(list);
    const unknown = list.filter((review) => !details.has(review.id));
    if (unknown.length === 0) return;
    for (const review of unknown) {
      if (ended) return;
      await learn(review.id).catch(() => {});
    }
    if (!ended) draw(current);
  };
  const heard = ({ detail }) => take(detail);
  live.addEventListener('reviews', heard);
  take(current);
  return {
    title: 'Reviews',
    element: el('section', {}, el('h1', { tabindex: '-1' }, 'Reviews'), body),
    end() {
      ended = true;
      live.removeEventListener('reviews', heard);
    },
  };
}
