// call.js - the records of one call, from the ledger.
import { call as read, contents } from './api.js';
import { el, fill, say } from './dom.js';
import { evidencePanel } from './evidence.js';
import { member } from './json.js';
import { events, facts, tool } from './review.js';
import { digest, name, pill, text, verdict, when, word } from './shown.js';
import { timeline } from './timeline.js';
import { tree } from './tree.js';
import { remedy, standing } from './why.js';

function record(label, value) {
  return value !== undefined && el('details', {}, el('summary', {}, label), tree(value));
}

function decided({ decision, why }, exact) {
  const extension = decision.extensions?.writ ?? {};
  return el('li', { class: 'event' }, decision.issued_at !== undefined ? when(decision.issued_at) : el('span', {}),
    el('div', {}, el('p', {}, el('strong', {}, 'Decision '), verdict(decision.decision, extension.reason)),
      decision.reason !== undefined && el('p', {}, text(decision.reason)),
      facts([
        ['Reason', extension.reason !== undefined && text(extension.reason)],
        ['Constraint that failed', extension.constraint !== undefined && text(extension.constraint)],
        ['Argument that was refused', extension.argument !== undefined && text(extension.argument)],
        ...standing(why),
        ['Scope', decision.normalized_scope !== undefined && text(decision.normalized_scope)],
        ['Target', decision.target !== undefined && text(decision.target)],
        ['Rules', decision.policy_refs?.length > 0 && text(decision.policy_refs.join(', '))],
        ['Duplicate of', extension.first_decision_id !== undefined && el('a', { href: `/ledger/${encodeURIComponent(extension.first_decision_id)}` }, digest(extension.first_decision_id))],
        ['Arguments', decision.params_hash !== undefined && digest(decision.params_hash)],
        ['State of the target', typeof decision.target_state_digest === 'string' && digest(decision.target_state_digest)],
      ]),
      record('The record of the decision', exact)));
}

const KEPT = {
  erased: 'They were erased, or their time is over.', none: 'None were kept.', locked: 'Their key is no longer in the key directory.',
};

function shownContents(found) {
  const part = (title, value, state, note) => el('div', {}, el('h3', {}, title), value !== undefined
    ? [note && el('p', { class: 'notice' }, note), tree(value)]
    : el('p', { class: 'soft' }, KEPT[state] ?? word(state)));
  return el('div', { class: 'contents', tabindex: '-1' },
    part('Arguments', found.arguments, found.arguments_state,
      found.arguments_whole === false && 'Members that the policy marks as secret were never kept. They are missing here.'),
    part('Result', found.result, found.result_state));
}

// for those whom the gateway tells that there are contents: the look is recorded before they come
function kept({ decision, contents: state }) {
  if (state === undefined) return null;
  const place = el('div', {});
  if (state !== 'kept') {
    fill(place, el('p', { class: 'soft' }, KEPT[state] ?? word(state)));
  } else {
    const button = el('button', { type: 'button', class: 'quiet' }, 'Show contents');
    const told = el('span', { class: 'soft small' }, 'The ledger records your name and the time.');
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        const shown = shownContents(await contents(decision.decision_id));
        fill(place, shown);
        shown.focus();
      } catch (error) {
        button.disabled = false;
        fill(told, `${error.message} ${error.hint ?? ''}`.trim());
        say(error.message);
      }
    });
    fill(place, el('p', {}, button, ' ', told));
  }
  return el('li', { class: 'event' }, el('span', {}), el('div', {}, el('p', {}, el('strong', {}, 'Contents')), place));
}

// the credential for the tool server, if it gets credentials
function authorization({ decision, outcome }) {
  if (decision.decision !== 'allow' || outcome?.outcome === 'blocked') return null;
  return el('li', { class: 'event' }, when(decision.issued_at),
    el('div', {}, el('p', {}, el('strong', {}, 'Authorization'), ' for this one call'),
      facts([
        ['Credential (jti)', digest(decision.decision_id)], ['Until', decision.expires_at && when(decision.expires_at)],
        ['Key', decision.idempotency_key !== undefined && text(decision.idempotency_key)],
      ])));
}

function ended(outcome, exact) {
  return el('li', { class: 'event' }, when(outcome.completed_at),
    el('div', {}, el('p', {}, el('strong', {}, 'Outcome '), pill(outcome.outcome)),
      facts([
        ['Error', outcome.error_type && text(outcome.error_type)], ['', outcome.error_message && text(outcome.error_message)],
        ['Result', typeof outcome.tool_output_hash === 'string' && digest(outcome.tool_output_hash)],
      ]),
      record('The record of the outcome', exact)));
}

function sealed(seal, exact) {
  return el('li', { class: 'event' }, seal.sealed_at !== undefined ? when(seal.sealed_at) : el('span', {}),
    el('div', {}, el('p', {}, el('strong', {}, 'Its run was sealed'), ` with ${seal.total} ${seal.total === 1 ? 'decision' : 'decisions'}`), record('The seal', exact)));
}

export async function callView(person, id) {
  const life = await read(id);
  const rounds = member(life.exact, 'rounds').items;
  const last = life.rounds.at(-1);
  return {
    title: `${last.decision.tool} · Ledger`,
    element: el('article', {},
      el('p', { class: 'crumb' }, el('a', { href: '/ledger' }, 'Ledger')),
      el('h1', { tabindex: '-1' }, tool(last.decision)),
      el('div', { class: 'line state' }, verdict(last.decision.decision, last.decision.extensions?.writ?.reason), last.outcome !== undefined && pill(last.outcome.outcome)),
      facts([
        ['Agent', last.decision.agent_id !== undefined && name(last.decision.agent_id)], ['Tenant', life.tenant !== '' && name(life.tenant)], ['Run', el('a', { href: `/ledger?${new URLSearchParams({ run: life.boundary_id })}` }, text(life.boundary_id))], ['Decision', digest(last.decision.decision_id)],
      ]),
      el('section', { class: 'panel', 'aria-labelledby': 'time' }, el('h2', { id: 'time' }, 'Timeline'), timeline(life)),
      el('section', { class: 'panel', 'aria-labelledby': 'life' }, el('h2', { id: 'life' }, 'Its life'),
        el('ol', { class: 'events' },
          life.rounds.map((round, i) => [
            decided(round, member(rounds[i], 'decision')), round.review && events(round.review), authorization(round),
            round.outcome && ended(round.outcome, member(rounds[i], 'outcome')), remedy(round, facts), kept(round),
          ]),
          life.seal && sealed(life.seal, member(life.exact, 'seal')))),
      evidencePanel(last.decision.decision_id)),
  };
}
