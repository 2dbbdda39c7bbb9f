// entrance.js - the login form.
import { certificate, logIn } from './api.js';
import { el, fill } from './dom.js';
import { name } from './shown.js';

/** Calls `enter` with the person. */
export function entrance(enter) {
  const fault = el('p', { class: 'fault', role: 'alert', id: 'login-fault' });
  const token = el('input', { id: 'token', name: 'token', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false', autocapitalize: 'none', 'data-first': true, 'aria-describedby': 'token-help login-fault' });
  const button = el('button', { class: 'main' }, 'Log in');
  const certified = certificate !== null && el('button', { type: 'button', class: 'quiet' }, 'Log in with the certificate ', name(certificate));
  const form = el('form', { class: 'panel login', method: 'post', novalidate: true },
    el('h1', { tabindex: '-1' }, 'Log in'),
    el('p', { class: 'soft' }, 'People decide here about the calls of agents.'),
    el('input', { type: 'text', name: 'username', autocomplete: 'username', value: 'Writ', hidden: true }), // for password managers
    el('label', { for: 'token' }, 'Your token'),
    token,
    el('p', { class: 'soft small', id: 'token-help' }, 'The one of your entry in the gateway’s configuration, or one of your identity provider. It is not kept in the browser.'),
    fault, button, certified);
  if (certified) {
    certified.addEventListener('click', async () => {
      try {
        await enter(await logIn({ certificate: true }));
      } catch (error) {
        fill(fault, error.status === 401 ? 'This certificate belongs to no configured agent.' : error.message);
      }
    });
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (token.value.trim() === '') {
      fill(fault, 'The token is missing.');
      token.focus();
      return;
    }
    button.disabled = true;
    try {
      const who = await logIn({ token: token.value });
      token.value = '';
      await enter(who);
    } catch (error) {
      fill(fault, error.status === 401 ? 'This token is not accepted.' : error.message);
      token.value = '';
      token.focus();
    } finally {
      button.disabled = false;
    }
  });
  return { title: 'Log in', element: form };
}
