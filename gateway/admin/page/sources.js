// sources.js - where the values of a call, and the labels of its run, came from, and the text around the values there. That text is
// untrusted: it becomes text nodes, and what hides in it is marked.
import { el } from './dom.js';
import { digest, name, text, word } from './shown.js';
import { warning } from './text.js';

const SOURCES = {
  task: 'the task of the run', operator: 'the list in the policy', trusted: 'a trusted field', approved: 'a call that people approved',
  untrusted: 'an untrusted result', unknown: 'nothing that this run has seen',
};

function around(place) {
  const doubt = warning(`${place.before}${place.value}${place.after}`);
  return [
    el('blockquote', {}, !place.starts && '…', text(place.before), el('strong', {}, text(place.value)), text(place.after), !place.ends && '…'),
    doubt !== '' && el('p', { class: 'warning' }, doubt),
  ];
}

/** The values, each with its places. */
export const sourceList = (values) => el('ul', { class: 'plain sources' }, values.map((value) => el('li', {},
  el('p', {}, text(value.argument), ' from ', SOURCES[value.source] ?? word(value.source), value.at !== null && [', at ', text(value.at)],
    value.tool !== null && [' of ', name(value.tool)], value.decision_id !== null && [', decision ', digest(value.decision_id)]),
  value.places.map(around),
  value.note !== '' && el('p', { class: 'soft small' }, `${value.note[0].toUpperCase()}${value.note.slice(1)}.`))));

/** The labels of the run that a rule looked at, each with the call that brought it. */
export const labelList = (labels) => el('ul', { class: 'plain labels' }, labels.map((label) => el('li', {},
  el('strong', {}, text(label.label)), ': ', label.note, label.tool !== null && [', from ', name(label.tool)],
  label.resource !== null && [' of ', text(label.resource)],
  label.decision_id !== null && [', decision ', digest(label.decision_id)],
  label.detector !== null && [', detector ', name(label.detector)], label.at !== null && [', at ', text(label.at)])));
