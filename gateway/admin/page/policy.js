// policy.js - the rules of the present policy: for whom they are, where they stand, and when they were used.
import { policy } from './api.js';
import { amount } from './chart.js';
import { el, fill } from './dom.js';
import { attempt } from './replay.js';
import { digest, name, text, when } from './shown.js';
import { versions } from './versions.js';

const HEADS = ['Rule', 'For', 'Hour', 'Day', 'Week', 'Last used'];

function callers(rule) {
  const parts = [['agents', 'agent'], ['roles', 'role'], ['tenants', 'tenant']].filter(([key]) => rule[key] !== undefined)
    .map(([key, label]) => [`${label} `, rule[key].map((one, i) => [i > 0 && ', ', name(one)])]);
  return parts.length === 0 ? 'every caller' : parts.map((part, i) => [i > 0 && '; ', part]);
}

function row(rule) {
  const cells = [
    [el('strong', {}, name(rule.tool)), el('br'), el('span', { class: 'soft small' }, text(`${rule.file}:${rule.line}`)),
      [rule.approval && 'approval', rule.shadow && 'shadow', rule.pin && 'pinned'].filter(Boolean).map((word) => [' ', el('span', { class: 'pill plain' }, word)])],
    callers(rule), amount(rule.hour), amount(rule.day), amount(rule.week),
    rule.used_after === undefined ? el('span', { class: 'pill wait' }, 'Not in a week') : ['after ', when(rule.used_after, { short: true })],
  ];
  return el('tr', { role: 'row' }, cells.map((cell, i) => el('td', { role: 'cell', 'data-label': HEADS[i] }, el('span', {}, cell))));
}

const matches = (rule, tool, agent) => rule.tool.toLowerCase().includes(tool) &&
  (agent === '' || rule.agents === undefined || rule.agents.some((one) => one.toLowerCase().includes(agent)));

export async function policyView(person) {
  const [found, history] = await Promise.all([policy(), versions()]);
  const rows = el('tbody', { role: 'rowgroup', id: 'rules' });
  const none = el('p', { class: 'nothing', hidden: true }, 'No rule is for them: every such call is refused.');
  const tool = el('input', { id: 'tool', type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const agent = el('input', { id: 'agent', type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const draw = () => {
    const list = found.rules.filter((rule) => matches(rule, tool.value.trim().toLowerCase(), agent.value.trim().toLowerCase()));
    fill(rows, list.map(row));
    none.hidden = list.length > 0;
  };
  for (const input of [tool, agent]) input.addEventListener('input', draw);
  const element = el('form', { class: 'filter', role: 'search', 'aria-label': 'Rules' },
    el('div', { class: 'field grow' }, el('label', { for: 'tool' }, 'Tool'), tool),
    el('div', { class: 'field grow' }, el('label', { for: 'agent' }, 'Agent'), agent));
  element.addEventListener('submit', (event) => event.preventDefault());
  draw();
  const dead = found.rules.filter((rule) => rule.used_after === undefined).length;
  return {
    title: 'Policy',
    element: el('section', {}, el('h1', { tabindex: '-1' }, 'Policy'),
      el('p', { class: 'soft' }, 'Digest ', digest(found.policy), '. The numbers are decisions that a rule made.'),
      !found.complete && el('p', { class: 'notice' }, 'The gateway still reads earlier records: the numbers are too low.'),
      dead > 0 && el('p', {}, `${amount(dead)} of ${amount(found.rules.length)} rules made no decision in a week${person.tenant === undefined ? '' : ' for your tenant'}.`),
      element,
      el('table', { class: 'calls', role: 'table' }, el('caption', { class: 'unseen' }, 'Rules, in the order of the configuration'),
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, HEADS.map((head) => el('th', { role: 'columnheader', scope: 'col' }, head)))), rows), none, history, attempt(person, [...new Set(found.rules.map((rule) => rule.file))])),
  };
}
