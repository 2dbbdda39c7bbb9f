// browser.mjs - a headless Chromium of the system for one test, driven over WebDriver (W3C) by
// fetch alone. Elements are found by CSS selectors; keys go where the focus is, as a person's do.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './gateway.mjs';

const DRIVER = '/usr/bin/chromedriver';
const BROWSER = '/usr/bin/chromium';
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'; // WebDriver 12: the key of an element reference
export const KEY = { tab: '\ue004', enter: '\ue007', space: ' ', shift: '\ue008', down: '\ue015', up: '\ue013',
  end: '\ue010', home: '\ue011', escape: '\ue00c' };

/** False where `scripts/deps test` has found no Chromium for the machine. */
export const hasBrowser = () => existsSync(DRIVER) && existsSync(BROWSER);

class Browser {
  constructor(base, id) {
    this.base = `${base}/session/${id}`;
  }

  async command(method, path, body) {
    const response = await fetch(this.base + path,
      { method, body: body === undefined ? undefined : JSON.stringify(body) });
    const { value } = await response.json();
    if (value?.error !== undefined)
      throw Object.assign(new Error(`${path}: ${value.error}: ${value.message}`), { error: value.error });
    return value;
  }

  open(url) {
    return this.command('POST', '/url', { url });
  }

  url() {
    return this.command('GET', '/url');
  }

  /** Runs a function in the page; its arguments and result are JSON. A promise is waited for. */
  run(fn, ...args) {
    return this.command('POST', '/execute/sync', { script: `return (${fn}).apply(null, arguments)`, args });
  }

  /** Runs a script of many lines in the page (axe-core). */
  inject(source) {
    return this.command('POST', '/execute/sync', { script: source, args: [] });
  }

  /** Waits until the function gives something true in the page. */
  until(fn, ...args) {
    return until(async () => {
      try {
        return await this.run(fn, ...args);
      } catch (error) {
        if (/stale|no such|javascript error/.test(error.error)) return false;
        throw error;
      }
    }, String(fn));
  }

  /** Waits until the text is on the page. */
  sees(text) {
    return this.until((t) => document.body.innerText.includes(t), text);
  }

  text(selector = 'body') {
    return this.run((s) => document.querySelector(s)?.innerText ?? null, selector);
  }

  async find(selector) {
    const found = await this.command('POST', '/element', { using: 'css selector', value: selector });
    return found[ELEMENT];
  }

  async click(selector) {
    return this.command('POST', `/element/${await this.find(selector)}/click`, {});
  }

  async type(selector, text) {
    return this.command('POST', `/element/${await this.find(selector)}/value`, { text });
  }

  /** Presses keys, one after the other, wherever the focus is. */
  async press(...keys) {
    const actions = keys.flatMap((key) => [{ type: 'keyDown', value: key }, { type: 'keyUp', value: key }]);
    await this.command('POST', '/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
  }

  /** What has the focus, in short. */
  focus() {
    return this.run(() => {
      const at = document.activeElement;
      return at === null ? '' : `${at.tagName.toLowerCase()}${at.id ? `#${at.id}` : ''}`;
    });
  }

  /** Tab until the focus is on what fits the selector; fails when it never is. */
  async tabTo(selector, most = 80) {
    for (let i = 0; i < most; i++) {
      if (await this.run((s) => document.activeElement?.matches(s) ?? false, selector)) return;
      await this.press(KEY.tab);
    }
    throw new Error(`no way by keyboard to ${selector}`);
  }

  /** The Chrome DevTools Protocol, for what WebDriver has no word for. */
  devtools(cmd, params = {}) {
    return this.command('POST', '/goog/cdp/execute', { cmd, params });
  }

  scheme(value) {
    return this.devtools('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
  }

  size(width, height, options = {}) {
    return this.devtools('Emulation.setDeviceMetricsOverride',
      { width, height, deviceScaleFactor: 1, mobile: false, ...options });
  }

  async screenshot() {
    return Buffer.from(await this.command('GET', '/screenshot'), 'base64');
  }

  cookies() {
    return this.command('GET', '/cookie');
  }

  /** The errors in the console since the last call, but for a 401: whoever is not logged in gets one. */
  async complaints() {
    const said = await this.command('POST', '/se/log', { type: 'browser' });
    return said.filter(({ level, message }) => /SEVERE|WARNING/.test(level) && !/401/.test(message));
  }
}

/** A browser with an empty profile; ends with the test. */
export async function startBrowser(t, { args = [] } = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'writ-browser-'));
  const driver = spawn(DRIVER, ['--port=0'],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, HOME: profile } });
  let out = '';
  driver.stdout.setEncoding('utf8').on('data', (d) => { out += d; });
  const gone = new Promise((resolve) => driver.on('exit', resolve));
  let browser;
  t.after(async () => {
    await browser?.command('DELETE', '').catch(() => {});
    driver.kill();
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  const [, port] = await until(() => /started successfully on port (\d+)/.exec(out), 'chromedriver to listen');
  const base = `http://127.0.0.1:${port}`;
  const response = await fetch(`${base}/session`, {
    method: 'POST',
    body: JSON.stringify({
      capabilities: { alwaysMatch: {
        browserName: 'chrome', acceptInsecureCerts: true, 'goog:loggingPrefs': { browser: 'ALL' },
        'goog:chromeOptions': {
          binary: BROWSER,
          // root has no sandbox, and containers have little /dev/shm
          args: ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-first-run',
            '--disable-background-networking', `--user-data-dir=${profile}/p`, '--window-size=1200,900',
            '--hide-scrollbars', '--lang=en-US', ...args],
        },
      } },
    }),
  });
  const { value } = await response.json();
  if (value.sessionId === undefined) throw new Error(`no browser: ${value.message}`);
  browser = new Browser(base, value.sessionId);
  return browser;
}
