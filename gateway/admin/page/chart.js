// chart.js - charts as SVG, each with a table of the same numbers: the picture is for the eyes, the table for
// screen readers, and for everyone on demand. Colours come from classes, because the page has no inline styles.
import { el } from './dom.js';

const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// as wide as it is shown, so that its texts have the size of other texts; and it can shrink a little
const wide = () => Math.max(300, Math.min(1000, document.documentElement.clientWidth - 80));

/** A number for a person: at most three digits after the point. */
export const amount = (value) => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });

/** The smallest of 1, 2, 5, 10, 20, ... that is not below the value. */
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function axis(most, end) {
  return [0, 0.5, 1].map((part) => {
    const y = HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP);
    return [draw('line', { class: 'grid', x1: LEFT, x2: end, y1: y, y2: y }),
      draw('text', { class: 'tick', x: LEFT - 6, y: y + 4, 'text-anchor': 'end' }, amount(part * most))];
  });
}

function column(slot, i, series, width, most) {
  let y = HEIGHT - BOTTOM;
  return series.map(({ key }) => {
    const height = slot.values[key] / most * (HEIGHT - BOTTOM - TOP);
    if (height <= 0) return null;
    y -= height;
    return draw('rect', { class: `bar ${key}`, x: LEFT + i * width + width * 0.1, y, width: width * 0.8, height });
  });
}

function labels(slots, width) {
  const every = Math.ceil(90 / width);
  return slots.map((slot, i) => i % every === 0 && draw('text', { class: 'tick', x: LEFT + (i + 0.5) * width, y: HEIGHT - 6, 'text-anchor': i === 0 ? 'start' : 'middle' }, slot.label));
}

/** Columns over time, one upon the other. `series`: { key, label }; `slots`: { label, full, values: by key }. */
export function columns(id, title, series, slots) {
  const most = ceiling(Math.max(...slots.map((slot) => series.reduce((sum, { key }) => sum + slot.values[key], 0))));
  const end = wide();
  const width = (end - LEFT) / slots.length;
  return el('figure', { class: 'chart' },
    el('figcaption', { class: 'unseen' }, title),
    el('ul', { class: 'legend', 'aria-hidden': 'true' }, series.map(({ key, label }) => el('li', {}, draw('svg', { class: 'swatch', viewBox: '0 0 10 10' }, draw('rect', { class: `bar ${key}`, width: 10, height: 10 })), label))),
    draw('svg', { viewBox: `0 0 ${end} ${HEIGHT}`, role: 'img', 'aria-label': `${title}. The table below has the numbers.` },
      axis(most, end), slots.map((slot, i) => column(slot, i, series, width, most)), labels(slots, width)),
    el('details', { id: `${id}-table` }, el('summary', { id: `${id}-summary` }, 'The numbers as a table'),
      el('div', { class: 'value', tabindex: '0', role: 'region', 'aria-label': title },
        el('table', { class: 'numbers' }, el('caption', { class: 'unseen' }, title),
          el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'From'), series.map(({ label }) => el('th', { scope: 'col' }, label)))),
          el('tbody', {}, slots.map((slot) => el('tr', {}, el('th', { scope: 'row' }, slot.full), series.map(({ key }) => el('td', {}, amount(slot.values[key]))))))))));
}

/** A table with a bar for each number, the longest first. `rows`: [label, count]. */
export function ranking(title, label, rows) {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return el('table', { class: 'ranking' }, el('caption', {}, title),
    el('thead', { class: 'unseen' }, el('tr', {}, el('th', { scope: 'col' }, label), el('th', { scope: 'col' }, 'Refusals'))),
    el('tbody', {}, rows.map(([shown, count]) => el('tr', {}, el('th', { scope: 'row' }, shown),
      el('td', {}, draw('svg', { class: 'share', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, draw('rect', { class: 'bar deny', width: count / most * 100, height: 8 })), el('span', { class: 'count-of' }, amount(count)))))));
}

/** How much of a whole is used: a bar, which says nothing that the text beside it does not. */
export function meter(share, kind) {
  return draw('svg', { class: 'share', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    draw('rect', { class: 'trough', width: 100, height: 8 }), draw('rect', { class: `bar ${kind}`, width: Math.min(100, share * 100), height: 8 }));
}
