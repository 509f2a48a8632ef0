// <request-tabs>: the open requests as tabs above the composer, and all of them in a menu. Emits
// "tabs:show" and "tabs:close" with the id of a tab. A tab is closed by its cross, the middle
// button, Delete, or in the menu.

import { icon, iconButton, make } from "./dom.js";

class RequestTabs extends HTMLElement {
  connectedCallback() {
    if (this.strip) return;
    this.strip = this.querySelector('[role="tablist"]');
    this.menu = this.querySelector(".open-menu");
    this.strip.addEventListener("click", (event) => this.#pressed(event));
    this.strip.addEventListener("auxclick", (event) => event.button === 1 && this.#pressed(event, true));
    // The middle button would begin to scroll, and on some systems paste into the focused field.
    for (const type of ["mousedown", "mouseup", "auxclick"])
      this.strip.addEventListener(type, (event) => event.button === 1 && event.preventDefault());
    this.strip.addEventListener("keydown", (event) => this.#key(event));
    this.menu.addEventListener("toggle", (event) => event.newState === "open" && this.#list());
    if (this.tabs) this.render(this.tabs);
  }

  /** Shows tabs: [{id, name, changed, saved, active}]. */
  render(tabs) {
    const shape = JSON.stringify(tabs);
    if (shape === this.shape) return;
    this.tabs = tabs;
    if (!this.strip) return;
    this.shape = shape;
    const had = this.strip.contains(document.activeElement);
    this.strip.replaceChildren(...tabs.map(tabOf));
    const active = this.strip.querySelector('[aria-selected="true"]');
    active?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (had) active?.focus();
    this.querySelector(".open-now").replaceChildren(...nameOf(tabs.find((tab) => tab.active) ?? tabs[0]));
    this.querySelector(".open-count").textContent = tabs.length;
    this.querySelector(".open-all").setAttribute("aria-label", `All open requests: ${tabs.length}`);
    if (this.menu.matches(":popover-open")) this.#list();
    this.hidden = false;
  }

  #emit(name, id) {
    this.dispatchEvent(new CustomEvent(name, { detail: id }));
  }

  #pressed(event, isMiddle) {
    const tab = event.target.closest('[role="tab"]');
    if (!tab) return;
    if (isMiddle || event.target.closest(".open-close")) this.#emit("tabs:close", tab.dataset.id);
    else this.#emit("tabs:show", tab.dataset.id);
  }

  #key(event) {
    const all = [...this.strip.children];
    const at = all.indexOf(event.target);
    const next = { ArrowLeft: at - 1, ArrowRight: (at + 1) % all.length, Home: 0, End: -1 }[event.key];
    if (event.key === "Delete") this.#emit("tabs:close", event.target.dataset.id);
    else if (next !== undefined) this.#emit("tabs:show", all.at(next).dataset.id);
    else return;
    event.preventDefault();
  }

  #list() {
    const rows = this.tabs.map((tab) => {
      const show = make("button", { type: "button", className: "open-row" }, ...nameOf(tab));
      if (tab.active) show.setAttribute("aria-current", "true");
      show.addEventListener("click", () => {
        this.menu.hidePopover();
        this.#emit("tabs:show", tab.id);
      });
      return make(
        "li",
        {},
        show,
        iconButton("close", `Close ${tab.name}`, () => this.#emit("tabs:close", tab.id)),
      );
    });
    this.menu.firstElementChild.replaceChildren(...rows);
  }
}

function tabOf(tab) {
  const close = make("span", { className: "open-close", "aria-hidden": "true", title: "Close (Delete)" });
  close.append(icon("close"));
  const made = make(
    "button",
    { type: "button", className: "open-tab", role: "tab", id: `open-${tab.id}`, title: tab.name },
    ...nameOf(tab),
    close,
  );
  made.dataset.id = tab.id;
  made.tabIndex = tab.active ? 0 : -1;
  made.setAttribute("aria-selected", String(tab.active));
  made.setAttribute("aria-controls", "composer-panel");
  return made;
}

/** The name of a tab; what is not saved has a mark, and a word for those who do not see it. */
function nameOf({ name, changed, saved }) {
  const parts = [make("span", { className: "open-name", dir: "auto" }, name)];
  if (changed) {
    parts.push(make("span", { className: "open-mark" }));
    parts.push(make("span", { className: "visually-hidden" }, saved ? " (unsaved changes)" : " (not saved)"));
  }
  return parts;
}

customElements.define("request-tabs", RequestTabs);
