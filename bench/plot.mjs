// plot.mjs - the plot of the report, as SVG text: two panels of bars, whiskers from least to most.

const COLOURS = { nginx: '#8a8f98', pass: '#2f6fb0', governed: '#c2571a', traced: '#7a4fa3', floor_pass: '#9cc3e6',
  floor: '#eab48f' };
const NAMES = { nginx: 'nginx', pass: 'gateway, passing', governed: 'gateway, governing',
  traced: 'gateway, governing, with telemetry', floor_pass: 'the least, passing', floor: 'the least, governing' };
const PANEL = { width: 420, height: 260, left: 50, top: 40, gap: 40 };

// A round number of at least `value`, and the number of steps to it.
function ceiling(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [0.2, 0.5, 1, 2].map(s => s * unit).find(s => value / s <= 6) ?? 2 * unit;
  return { top: Math.ceil(value / step) * step, step };
}

function axis(x, scale, title) {
  const { width, height, top } = PANEL;
  let out = `<text x="${x}" y="${top - 16}" font-weight="bold">${title}</text>\n`;
  for (let v = 0; v <= scale.top + 1e-9; v += scale.step) {
    const y = top + height - (v / scale.top) * height;
    out += `<line x1="${x}" y1="${y}" x2="${x + width}" y2="${y}" stroke="#ddd"/>` +
      `<text x="${x - 6}" y="${y + 4}" text-anchor="end">${+v.toFixed(2)}</text>\n`;
  }
  return out;
}

function bar(x, width, value, scale, colour) {
  const { height, top } = PANEL;
  const y = v => top + height - (v / scale.top) * height;
  const middle = x + width / 2;
  return `<rect x="${x}" y="${y(value.median)}" width="${width}" height="${top + height - y(value.median)}" ` +
    `fill="${colour}"/><line x1="${middle}" y1="${y(value.least)}" x2="${middle}" y2="${y(value.most)}" ` +
    'stroke="#222"/>\n';
}

function panel(x, rows, name, title) {
  const conns = [...new Set(rows.map(row => row.conns))];
  const scale = ceiling(Math.max(...rows.map(row => row[name].most)));
  const slot = PANEL.width / conns.length;
  let out = axis(x, scale, title);
  conns.forEach((n, i) => {
    const group = rows.filter(row => row.conns === n);
    const width = (slot * 0.7) / group.length;
    group.forEach((row, k) => {
      out += bar(x + (i + 0.15) * slot + k * width, width - 2, row[name], scale, COLOURS[row.target]);
    });
    out += `<text x="${x + (i + 0.5) * slot}" y="${PANEL.top + PANEL.height + 18}" ` +
      `text-anchor="middle">${n}</text>\n`;
  });
  return out;
}

function legend(targets) {
  const y = PANEL.top + PANEL.height + 48;
  return targets.map((target, i) => {
    const x = PANEL.left + i * 170;
    return `<rect x="${x}" y="${y - 10}" width="12" height="12" fill="${COLOURS[target]}"/>` +
      `<text x="${x + 18}" y="${y}">${NAMES[target]}</text>`;
  }).join('\n');
}

/** The plot as SVG text. Without nginx among the targets there is no ratio, and one panel. */
export function plot(rows) {
  const ratios = rows.filter(row => row.ratio);
  const second = PANEL.left + (ratios.length > 0 ? PANEL.width + PANEL.gap + 40 : 0);
  const width = second + PANEL.width + 20;
  const height = PANEL.top + PANEL.height + 64;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">\n` +
    `<rect width="${width}" height="${height}" fill="white"/>\n` +
    (ratios.length > 0 ? panel(PANEL.left, ratios, 'ratio', 'requests per second, nginx = 1') : '') +
    panel(second, rows, 'cpu_us', 'CPU microseconds per request') +
    `<text x="${width - 20}" y="${height - 16}" text-anchor="end">by connections</text>\n` +
    `${legend([...new Set(rows.map(row => row.target))])}\n</svg>\n`;
}
