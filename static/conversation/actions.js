// <action-panel>: one action before it is run, in the slot under its card. The button that opened
// it, named in data-button, closes it again, as do Esc and Close; the focus goes back to it.
// Emits "action-panel:change" when a field was edited, which discards a confirmation.
// Actions other than the primary one are in a menu: the module's second part.

import { giveFocus } from "../site/focus.js";
import { ignoreLateResponses } from "../site/late-responses.js";

class ActionPanel extends HTMLElement {
  connectedCallback() {
    if (this.abort) return;
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.setExpanded(true);
    this.ignoreLateResponses = ignoreLateResponses(this.querySelector("form"), ".action-panel-confirmation");
    this.addEventListener("input", () => this.changed(), { signal });
    this.addEventListener("change", () => this.changed(), { signal });
    this.addEventListener("keydown", (event) => this.onKey(event), { signal });
    this.addEventListener("click", (event) => this.onClick(event), { signal });
    this.addEventListener("htmx:beforeSwap", (event) => this.onResponse(event), { signal });
    this.addEventListener("htmx:oobBeforeSwap", (event) => this.onPatch(event), { signal });
    giveFocus(this, { preventScroll: true });
    this.scrollIntoView({ block: "nearest" });
  }

  disconnectedCallback() {
    if (this.isConnected) return;
    this.abort?.abort();
    this.setExpanded(false);
    // If the focus was in the panel, it was lost with it.
    if (document.activeElement === document.body) this.button?.focus();
  }

  /** The button that opened it; for an item of a menu the button of the menu. */
  get button() {
    const button = document.getElementById(this.dataset.button);
    return menuButton(button?.closest(".action-menu")) ?? button;
  }

  get confirmation() {
    return this.querySelector(".action-panel-confirmation");
  }

  setExpanded(open) {
    const { button } = this;
    if (button?.matches(".action-button")) button.setAttribute("aria-expanded", String(open));
  }

  changed() {
    this.ignoreLateResponses();
    this.confirmation.replaceChildren();
    this.querySelector("form").dispatchEvent(new Event("action-panel:change"));
  }

  // The loaded facts of a server come with their own preview; one that was requested before is outdated.
  onResponse({ target }) {
    if (!target.matches(".action-panel-facts")) return;
    window.htmx.trigger(this.querySelector(".action-panel-call"), "htmx:abort");
  }

  // The error of a server that could not be read stays until the URL is changed.
  onPatch({ target, detail }) {
    const error = target.matches(".action-panel-facts") && target.querySelector("[data-url]");
    const url = this.querySelector("[name=server_url]")?.value.trim() ?? "";
    if (error && error.dataset.url === url) detail.shouldSwap = false;
  }

  onKey(event) {
    // A key that is held down would press Run action and then confirm it, unread.
    const onButton = event.target.closest("button");
    if (event.repeat && event.key === "Enter" && onButton) event.preventDefault();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.close();
  }

  onClick(event) {
    if (event.target.closest("[data-close-panel]")) this.close();
    if (!event.target.closest("[data-cancel]")) return;
    this.confirmation.replaceChildren();
    this.querySelector(".action-panel-run").focus();
  }

  close() {
    const { button } = this;
    this.remove();
    button?.focus();
  }
}

customElements.define("action-panel", ActionPanel);

// The button that opened a panel closes it without a request.
document.addEventListener("htmx:beforeRequest", (event) => {
  const slot = document.getElementById(event.target.dataset?.actionPanel);
  const panel = slot?.querySelector("action-panel");
  if (!panel || panel.dataset.button !== event.target.id) return;
  event.preventDefault();
  panel.close();
});

// --- the menu of a card's other actions ---

function menuButton(menu) {
  return menu ? document.querySelector(`[popovertarget="${menu.id}"]`) : undefined;
}

/** Places a menu below its button, or above it where there is no space below. */
function place(menu) {
  const { left, top, bottom } = menuButton(menu).getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const isLow = bottom + height + 8 > innerHeight && top > height + 8;
  menu.style.top = `${isLow ? top - height - 4 : bottom + 4}px`;
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
}

// "toggle" and "beforetoggle" do not bubble.
document.addEventListener(
  "beforetoggle",
  ({ target, newState }) => {
    if (newState === "open" && target.matches(".action-menu")) place(target);
  },
  { capture: true },
);
document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    if (newState !== "open" || !target.matches(".action-menu")) return;
    place(target);
    target.querySelector('[role="menuitem"]').focus({ preventScroll: true });
  },
  { capture: true },
);
// It moves with its card, and closes when its button is scrolled out of view.
document.addEventListener(
  "scroll",
  ({ target }) => {
    const menu = document.activeElement.closest(".action-menu");
    if (!menu || target === menu) return;
    const { top, bottom } = menuButton(menu).getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) menu.hidePopover();
    else place(menu);
  },
  { capture: true, passive: true },
);
document.addEventListener("click", ({ target }) => {
  target.closest(".action-menu-item")?.closest(".action-menu").hidePopover();
});
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest(".action-menu");
  if (!menu) return;
  const items = [...menu.querySelectorAll('[role="menuitem"]')];
  const at = items.indexOf(event.target);
  const next = { ArrowDown: (at + 1) % items.length, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (next !== undefined) items.at(next).focus();
  else if (event.key === "Tab") menu.hidePopover();
  else return;
  if (event.key !== "Tab") event.preventDefault();
});
