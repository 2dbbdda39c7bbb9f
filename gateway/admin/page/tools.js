// tools.js - the definitions of tools: those that were seen, those that were accepted, and what changed between.
import { accept, difference, tools } from './api.js';
import { el, fill, say } from './dom.js';
import { digest, name, pill, text, when } from './shown.js';

const SIGNS = { '+': ['added', '+ Added'], '-': ['', '− Removed'], '~': ['changed', '~ Changed'] };
const ORDER = ['changed', 'new', 'gone', 'accepted'];

function line(shown) {
  const [kind, sign] = SIGNS[shown[0]] ?? ['', ''];
  return el('li', { class: `side ${kind}` }, el('span', { class: 'sign' }, sign), text(shown.slice(2)));
}

function acceptor({ tool, seen, odd, withheld }, again) {
  const known = el('input', { type: 'checkbox' });
  const button = el('button', { type: 'button', class: 'main', disabled: withheld }, 'Accept this definition');
  const fault = el('p', { class: 'fault', role: 'alert' });
  known.addEventListener('change', () => { button.disabled = !known.checked; });
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await accept(tool, seen, withheld);
      await again(tool);
    } catch (error) {
      button.disabled = false;
      fill(fault, error.reason === 'definition_changed' ? 'The server has changed the definition since. Open it again.' : `${error.message} ${error.hint}`.trim());
    }
  });
  return [withheld && el('label', { class: 'known' }, known, ` I know that it is odd: ${odd.join(', ')}`), button, fault];
}

function compared(found, mayAccept, again) {
  return el('div', { class: 'compared', tabindex: '-1' },
    found.seen !== undefined && el('p', { class: 'small' }, 'Seen ', digest(found.seen)),
    found.accepted !== undefined && el('p', { class: 'small' }, 'Accepted ', digest(found.accepted)),
    el('ul', {}, found.difference.map(line)),
    el('p', { class: 'notice' }, 'A definition is the tool server\'s word. Models read it as an instruction.'),
    found.refused && el('p', { class: 'fault' }, `It cannot be accepted: the configuration refuses what is odd about it (${found.odd.join(', ')}).`),
    mayAccept && found.seen !== undefined && !found.refused && acceptor(found, again));
}

function card(one, mayAccept, again) {
  const place = el('div', {});
  const button = el('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false' }, one.state === 'new' ? 'Show the definition' : 'Show what changed', el('span', { class: 'unseen' }, ` of ${one.tool}`));
  button.addEventListener('click', async () => {
    if (place.childElementCount > 0) {
      fill(place);
      button.setAttribute('aria-expanded', 'false');
      return;
    }
    try {
      fill(place, compared(await difference(one.tool), mayAccept, again));
      button.setAttribute('aria-expanded', 'true');
      place.firstElementChild.focus();
    } catch (error) {
      say(error.message);
    }
  });
  return el('li', { class: 'card tool' },
    el('div', { class: 'line' }, el('h2', {}, name(one.tool)), pill(one.state)),
    el('p', { class: 'meta' },
      el('span', {}, one.listed ? 'a rule lists it' : 'no rule lists it: every call is refused'),
      one.odd.length > 0 && el('span', { class: 'odd' }, `odd: ${one.odd.join(', ')}${one.withheld && one.state !== 'accepted' ? ' (withheld from agents)' : ''}`),
      el('span', {}, one.pinned ? 'pinned: only the accepted definition may be called' : 'not pinned'),
      one.accepted_at !== undefined && el('span', {}, 'accepted ', when(one.accepted_at))),
    one.state !== 'accepted' && [button, place]);
}

export async function toolsView(person) {
  const mayAccept = person.administrator === true && person.tenant === undefined;
  const body = el('div', {});
  const title = el('h1', { tabindex: '-1' }, 'Tools');
  const draw = (list) => {
    const sorted = [...list].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
    fill(body, list.length === 0 ? el('p', { class: 'nothing' }, 'No definition was seen yet. The gateway notes a tool when it is listed or called.')
      : el('ul', { class: 'cards' }, sorted.map((one) => card(one, mayAccept, again))));
  };
  const again = async (tool) => {
    draw(await tools());
    title.focus();
    say(`The definition of ${tool} is accepted.`);
  };
  draw(await tools());
  return {
    title: 'Tools',
    element: el('section', {}, title,
      el('p', { class: 'soft' }, 'What tool servers say about their tools, and what an administrator has accepted.'), body),
  };
}
