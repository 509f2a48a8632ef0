// <row-menu>: one menu for all rows, folders and the collection itself. A link with data-menu, which
// leads to a page with the same actions, opens it. What it acts upon is the [data-item] around
// the link: {slug, url, name} in its data, below whose address the actions are.

import { announce } from "../site/dom.js";
import { giveFocus } from "../site/focus.js";

/** What does not apply to a kind of thing. */
const WITHOUT = {
  request: [],
  folder: ["open"],
  collection: ["place"],
  whole: ["open", "up", "down", "place"],
};

class RowMenu extends HTMLElement {
  connectedCallback() {
    this.menu = this.querySelector('[role="menu"]');
    document.addEventListener("click", (event) => this.#opened(event));
    this.menu.addEventListener("click", (event) => this.#chosen(event));
    this.menu.addEventListener("keydown", (event) => this.#key(event));
    this.menu.addEventListener("toggle", ({ newState }) => {
      if (newState === "closed") this.opener?.setAttribute("aria-expanded", "false");
    });
  }

  #opened(event) {
    const opener = event.target.closest("a[data-menu]");
    if (!opener || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.opener = opener;
    this.item = opener.closest("[data-item]");
    const without = WITHOUT[this.item.dataset.item];
    for (const entry of this.menu.children) entry.hidden = without.includes(entry.dataset.do);
    this.menu.showPopover();
    this.#place(opener.getBoundingClientRect());
    opener.setAttribute("aria-expanded", "true");
    this.#entries()[0].focus();
  }

  /** Below the button, or above it where there is no room. */
  #place(button) {
    const { offsetWidth: width, offsetHeight: height } = this.menu;
    const isLow = button.bottom + height + 8 > innerHeight;
    this.menu.style.top = `${isLow ? Math.max(8, button.top - height - 4) : button.bottom + 4}px`;
    this.menu.style.left = `${Math.max(8, button.right - width)}px`;
  }

  #entries() {
    return [...this.menu.children].filter((entry) => !entry.hidden);
  }

  #key(event) {
    const entries = this.#entries();
    const at = entries.indexOf(document.activeElement);
    const next = { ArrowDown: (at + 1) % entries.length, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next !== undefined) entries.at(next).focus();
    else if (event.key === "Escape" || event.key === "Tab") this.#close();
    else return;
    event.preventDefault();
  }

  #close() {
    this.menu.hidePopover();
    this.opener.focus();
  }

  #chosen(event) {
    const action = event.target.closest("[data-do]")?.dataset.do;
    if (!action) return;
    this.#close();
    const { item } = this;
    const { url } = item.dataset;
    if (action === "open") location.assign(url);
    else if (action === "up" || action === "down")
      item.closest("sort-list").step(item, action === "up" ? -1 : 1);
    else if (action === "details" || action === "place")
      document.querySelector("form-sheet").open(`${url}${action}/`, this.opener);
    else if (action === "duplication") post(`${url}duplication/`, item, "afterend");
    else this.#remove(item);
  }

  async #remove(item) {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    await post(`${item.dataset.url}deletion/`, item, "delete");
    announce(`Deleted ${item.dataset.name}.`);
    giveFocus(next?.querySelector("[data-menu]") ?? document.querySelector("h1 + * a"));
  }
}

function post(url, item, swap) {
  return window.htmx.ajax("POST", url, { source: item, target: item, swap });
}

customElements.define("row-menu", RowMenu);
