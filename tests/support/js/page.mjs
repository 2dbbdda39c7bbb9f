// page.mjs - what tests do on the page: log in by keyboard, and let axe-core look at it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE } from './gateway.mjs';
import { hasBrowser, KEY } from './browser.mjs';

const AXE = join(SOURCE, 'tests/support/npm/node_modules/axe-core/axe.min.js');

/** The option `skip` of a test that needs a browser. */
export const SKIP = hasBrowser() ? false : 'no Chromium: run scripts/deps test';

/** Logs in on the page, by keyboard. */
export async function enter(browser, base, who, path = '/') {
  await browser.open(base + path);
  await browser.until(() => document.activeElement?.id === 'token');
  await browser.press(...who.token, KEY.enter);
  await browser.until(() => document.querySelector('#leave')?.offsetParent !== null &&
    document.querySelector('#main h1') !== null);
}

/** What axe-core finds on the page as it is. */
export async function faults(browser) {
  await browser.inject(readFileSync(AXE, 'utf8'));
  const found = await browser.run(() =>
    window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
    .then(({ violations }) =>
      violations.map(({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`)));
  return found;
}

/** Keeps a picture of the page when WRIT_SCREENSHOTS names a folder. */
export async function picture(browser, name) {
  const folder = process.env.WRIT_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), await browser.screenshot());
}
