// Changes what stands under an entry in place, instead of replacing it as htmx would: a message
// a second must not take away the focus, what is being typed, a list that was opened, or a click.
//
// Works on any element with data-patched that comes out of band, and tells it so ("part:patched",
// with `lostFocus` if what had the focus is gone). Elements with data-kept are left as they are inside;
// custom elements without data-patched are, too, unless their attributes have changed.

import { highlight } from "../site/highlight.js";
import { whenReleased } from "./pressed.js";

/** What belongs to the page and its reader, and not to the server. */
const PAGES_OWN = new Set(["open", "aria-expanded", "data-coloured", "data-folded", "data-marked", "style"]);

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const fresh = fragment.firstElementChild;
  if (!target.matches("[data-patched]") || fresh?.id !== target.id) return;
  event.detail.shouldSwap = false;
  // It is about what the page showed before.
  if (fresh.dataset.step !== target.dataset.step) return;
  whenReleased(target, () => {
    const hadFocus = target.contains(document.activeElement);
    patch(target, fresh);
    highlight(target);
    const lostFocus = hadFocus && !target.contains(document.activeElement);
    // A button that has done its work is gone: the focus stays nearby.
    if (lostFocus) target.querySelector('[tabindex="-1"]')?.focus();
    target.dispatchEvent(new CustomEvent("part:patched", { bubbles: true, detail: { lostFocus } }));
  });
});

// A message can remove the button whose request is on its way. htmx looks for what comes out of band
// in the tree of the button, so that nothing of the answer would be found: here it is the page's.
// Other answers, such as a preview, have no place once their element is gone.
document.addEventListener("htmx:beforeSend", ({ detail: { elt, xhr } }) => {
  if (!elt.matches("button, form, select")) return;
  const swap = (event) => {
    if (elt.isConnected || event.target !== elt || !event.detail.shouldSwap) return;
    event.preventDefault();
    window.htmx.swap(document.body, xhr.response, { swapStyle: "none" }, { eventInfo: event.detail });
  };
  elt.addEventListener("htmx:beforeSwap", swap, { once: true });
});

export function patch(old, fresh) {
  copyAttributes(old, fresh);
  if ("kept" in old.dataset || (isCustom(old) && !("patched" in old.dataset))) return;
  const spare = [...old.childNodes];
  const pairs = [...fresh.childNodes].map((wanted) => [wanted, take(spare, wanted)]);
  // First what goes, so that what stays need not move: an element that moves loses the focus.
  for (const node of spare) node.remove();
  let place = old.firstChild;
  for (const [wanted, found] of pairs) {
    if (found && found === place) place = place.nextSibling;
    else old.insertBefore(found ?? wanted, place);
    if (found) update(found, wanted);
    else if (wanted instanceof Element) window.htmx.process(wanted);
  }
}

/** The first of the nodes that can become the wanted one, taken out of the list. */
function take(nodes, wanted) {
  const index = nodes.findIndex((node) => fits(node, wanted));
  return index < 0 ? undefined : nodes.splice(index, 1)[0];
}

function update(node, wanted) {
  if (node instanceof Element) {
    patch(node, wanted);
  } else if (node.data !== wanted.data) {
    // Another node, because colours are ranges in the old one.
    delete node.parentElement.dataset.coloured;
    node.replaceWith(wanted);
  }
}

/** Whether a node can become another: the same thing, with the same behaviour. */
function fits(node, wanted) {
  if (node.nodeName !== wanted.nodeName) return false;
  if (!(node instanceof Element)) return true;
  if (node.id !== wanted.id) return false;
  return behaviour(node) === behaviour(wanted);
}

/** What htmx, or the element itself, reads once and not again. */
function behaviour(element) {
  const names = element.getAttributeNames().filter((name) => isCustom(element) || name.startsWith("hx-"));
  return names.map((name) => `${name}=${element.getAttribute(name)}`).join();
}

function isCustom(element) {
  return element.localName.includes("-");
}

function copyAttributes(old, fresh) {
  for (const name of old.getAttributeNames()) {
    if (!fresh.hasAttribute(name) && !PAGES_OWN.has(name)) old.removeAttribute(name);
  }
  for (const name of fresh.getAttributeNames()) {
    const value = fresh.getAttribute(name);
    if (old.getAttribute(name) !== value && !PAGES_OWN.has(name)) old.setAttribute(name, value);
  }
}
