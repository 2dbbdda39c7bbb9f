// app.js - the present view, the logged-in person, and the frame around both.
import { login, logOut, whoIsIn } from './api.js';
import { el, fill, say } from './dom.js';
import { line } from './follow.js';
import { live, start, stop } from './live.js';
import { name } from './shown.js';
import { pieces } from './text.js';
import { entrance } from './entrance.js';
import { budgetsView } from './budgets.js';
import { callView } from './call.js';
import { delegationsView } from './delegations.js';
import { evidenceView } from './evidence.js';
import { ledgerView } from './ledger.js';
import { overviewView } from './overview.js';
import { policyView } from './policy.js';
import { reviewView } from './review.js';
import { reviewsView } from './reviews.js';
import { toolsView } from './tools.js';
import { stopsView, unwatch, watch } from './stops.js';

const IDLE_MS = 30 * 60 * 1000; // without a key or pointer event: the person is assumed to have left

const main = document.getElementById('main');
let person = null; // who is logged in
let view = null; // { title, element, end() }
let turn = 0; // so that a late view does not replace a newer one
let idle = null;
let waiting = 0; // reviews that wait for this person's vote

const ROUTES = [
  [/^\/overview\/?$/, () => overviewView(person, new URLSearchParams(location.search))],
  [/^\/reviews\/?$/, () => reviewsView(person, new URLSearchParams(location.search))],
  [/^\/reviews\/([^/]+)$/, (id) => reviewView(person, id)],
  [/^\/delegations\/?$/, () => delegationsView()],
  [/^\/budgets\/?$/, () => budgetsView()],
  [/^\/policy\/?$/, () => policyView(person)],
  [/^\/tools\/?$/, () => toolsView(person)],
  [/^\/stops\/?$/, () => stopsView(person)],
  [/^\/ledger\/?$/, () => ledgerView(person, new URLSearchParams(location.search), go)],
  [/^\/ledger\/([^/]+)$/, (id) => callView(person, id)],
  [/^\/evidence$/, () => evidenceView()],
];

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function missing() {
  return { title: 'Not found', element: el('section', {}, el('h1', { tabindex: '-1' }, 'Page not found'), el('p', {}, el('a', { href: '/reviews' }, 'To the reviews'))) };
}

function entitle() {
  const title = pieces(view.title.slice(0, 100)).map((piece) => piece.mark ?? piece.text).join('');
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Writ`;
}

// an auditor or administrator begins with the overview, a voter with the reviews
function place() {
  if (location.pathname !== '/') return location.pathname;
  return person?.auditor || person?.administrator ? '/overview' : '/reviews';
}

function show(next, focus) {
  view?.end?.();
  view = next;
  fill(main, next.element);
  entitle();
  for (const link of document.querySelectorAll('#nav a')) {
    const here = place();
    const own = link.getAttribute('href');
    link.toggleAttribute('aria-current', here === own || here.startsWith(`${own}/`));
    if (link.hasAttribute('aria-current')) link.setAttribute('aria-current', 'page');
  }
  if (focus) {
    (main.querySelector('[data-first]') ?? main.querySelector('h1') ?? main).focus();
    if (focus !== 'stay') window.scrollTo(0, 0);
  }
}

function failed(error) {
  return {
    title: 'Refused',
    element: el('section', {}, el('h1', { tabindex: '-1' }, error.status === 404 ? 'Page not found' : 'The request failed'),
      el('p', {}, error.message), error.hint && el('p', { class: 'soft' }, error.hint),
      error.status === 404 && el('p', { class: 'soft' }, 'It does not exist, or you may not see it.'),
      el('p', {}, el('a', { href: '/reviews' }, 'To the reviews'))),
  };
}

async function render(focus) {
  const mine = ++turn;
  if (person === null) {
    show(entrance(enter), focus);
    return;
  }
  const [route, found] = ROUTES.map(([pattern, build]) => [build, pattern.exec(place())]).find(([, match]) => match !== null) ?? [];
  let next;
  try {
    next = route === undefined ? missing() : await route(...found.slice(1).map(decoded));
  } catch (error) {
    if (error.status === 401) return;
    if (error.status === undefined) throw error;
    next = failed(error);
  }
  if (mine === turn) show(next, focus);
  else next.end?.();
}

/** Another address of the page. */
function go(address, { replace = false, focus = true } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  return render(focus);
}

function around() {
  const isIn = person !== null;
  document.getElementById('nav').hidden = !isIn;
  document.getElementById('who').hidden = !isIn;
  for (const link of document.querySelectorAll('#nav a[data-for]')) link.hidden = !link.dataset.for.split(' ').some((role) => person?.[role]);
  fill(document.getElementById('name'), isIn ? [name(person.subject), person.tenant !== undefined && [' · ', name(person.tenant)]] : []);
  if (!isIn) document.getElementById('waiting').hidden = true;
}

async function enter(who) {
  person = who;
  around();
  rest();
  await Promise.all([start(), watch(person)]);
  await render(true);
}

function left(why) {
  if (person === null) return;
  person = null;
  waiting = 0;
  stop();
  unwatch();
  clearTimeout(idle);
  around();
  render(true);
  if (why) say(why);
}

async function leave(why) {
  stop();
  try {
    await logOut();
  } catch {
    // the key is gone: the rest of the login at the gateway opens nothing
  }
  left(why);
}

function rest() {
  clearTimeout(idle);
  if (person !== null) idle = setTimeout(() => leave('You were logged out after 30 minutes without activity.'), IDLE_MS);
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href^="/"]');
  if (link === null || link === undefined || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
for (const kind of ['keydown', 'pointerdown', 'scroll']) addEventListener(kind, rest, { passive: true });
addEventListener('popstate', () => render(true));
addEventListener('storage', async () => { // another tab has logged in or out
  const who = await whoIsIn().catch(() => person);
  if (who === null) left('You are no longer logged in.');
  else if (person === null) await enter(who);
});
document.getElementById('leave').addEventListener('click', () => leave('You are logged out.'));
login.addEventListener('out', () => left('You are no longer logged in.'));
live.addEventListener('reviews', ({ detail }) => {
  waiting = detail.filter((review) => review.state === 'open' && review.voters.some((voter) => voter.id === person?.subject && voter.vote === undefined)).length;
  const badge = document.getElementById('waiting');
  if (view !== null) entitle();
  badge.hidden = waiting === 0;
  fill(badge, String(waiting), el('span', { class: 'unseen' }, waiting === 1 ? ' waits for your vote' : ' wait for your vote'));
});
line.addEventListener('link', ({ detail: linked }) => {
  const shown = document.getElementById('link');
  shown.textContent = linked ? 'Live' : 'Not connected';
  shown.classList.toggle('lost', !linked);
  if (!linked) say('The gateway cannot be reached. The page may show old data.');
});

try {
  person = await whoIsIn();
} catch (error) {
  show(failed(error), true);
}
if (person !== null) await enter(person);
else if (view === null) await render(true);
