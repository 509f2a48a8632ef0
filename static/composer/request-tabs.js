// <request-tabs>: the open requests as tabs above the composer, and all of them in a menu. Emits
// "tabs:show", "tabs:close" and "tabs:keep" with the id of a tab. A tab is closed by its cross, the
// middle button, Delete, or in the menu; a preview is kept by a double click, Return, or in the menu.

import { iconButton, make } from "../site/dom.js";
import { nameOf, tabOf } from "./tab-label.js";

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
    // A tab that is replaced between the press and the release would get no click.
    this.addEventListener("pointerdown", () => (this.isPressed = true));
    for (const type of ["pointerup", "pointercancel"])
      addEventListener(type, () => this.isPressed && setTimeout(() => this.#released()));
    // Before it is shown: "toggle" comes afterwards, and the menu would be empty until then.
    this.menu.addEventListener("beforetoggle", (event) => event.newState === "open" && this.#list());
    if (this.tabs) this.render(this.tabs);
  }

  /** Shows tabs: [{id, name, changed, saved, preview, active}]. */
  render(tabs) {
    this.tabs = tabs;
    const shape = JSON.stringify(tabs);
    if (!this.strip || this.isPressed || shape === this.shape) return;
    this.shape = shape;
    const had = this.strip.contains(document.activeElement);
    this.strip.replaceChildren(...tabs.map(tabOf));
    this.hidden = false;
    const active = this.strip.querySelector('[aria-selected="true"]');
    active?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (had) active?.focus();
    this.querySelector(".open-now").replaceChildren(...nameOf(tabs.find((tab) => tab.active) ?? tabs[0]));
    this.querySelector(".open-count").textContent = tabs.length;
    this.querySelector(".open-all").setAttribute("aria-label", `All open requests: ${tabs.length}`);
    if (this.menu.matches(":popover-open")) this.#list();
  }

  /** The tab that is shown; on a phone, what stands there in its place. */
  focus() {
    this.strip.querySelector('[aria-selected="true"]').focus();
    if (!this.contains(document.activeElement)) this.querySelector(".open-all").focus();
  }

  #released() {
    this.isPressed = false;
    this.render(this.tabs);
  }

  #emit(name, id) {
    this.dispatchEvent(new CustomEvent(name, { detail: id }));
  }

  #pressed(event, isMiddle) {
    const tab = event.target.closest('[role="tab"]');
    if (!tab) return;
    if (isMiddle || event.target.closest(".open-close")) this.#emit("tabs:close", tab.dataset.id);
    else {
      this.#emit("tabs:show", tab.dataset.id);
      // The first click has put another element in its place: there is no "dblclick" of one.
      if (event.detail === 2) this.#emit("tabs:keep", tab.dataset.id);
    }
  }

  #key(event) {
    const all = [...this.strip.children];
    const at = all.indexOf(event.target);
    const next = { ArrowLeft: at - 1, ArrowRight: (at + 1) % all.length, Home: 0, End: -1 }[event.key];
    if (event.key === "Delete") this.#emit("tabs:close", event.target.dataset.id);
    else if (event.key === "Enter") this.#emit("tabs:keep", event.target.dataset.id);
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
      const keep = iconButton("check", `Keep ${tab.name} open`, () => this.#emit("tabs:keep", tab.id));
      return make(
        "li",
        {},
        show,
        ...(tab.preview ? [keep] : []),
        iconButton("close", `Close ${tab.name}`, () => this.#emit("tabs:close", tab.id)),
      );
    });
    this.menu.firstElementChild.replaceChildren(...rows);
  }
}

customElements.define("request-tabs", RequestTabs);
