// dom.js - elements from tags, attributes and texts. Texts become text nodes and nothing else: the
// page has no other way to show something (and the browser refuses any other).

/** An element. `attributes`: `on<event>` is a listener, `true` an empty attribute, null and false none. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces all children. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** Announces an event to people who do not see the page. */
export function say(text) {
  const said = document.getElementById('said');
  said.textContent = '';
  setTimeout(() => { said.textContent = text; }, 50); // the same text is announced again
}
