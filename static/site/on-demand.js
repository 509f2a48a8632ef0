// <on-demand data-url data-module data-style data-fills="expectations captures">: a part of the
// composer that most requests have no use for. Markup, module and style sheet come when its panel
// is first shown; until then its tab only says whether the form's fields hold something.

import { addStyleSheet } from "./dom.js";

class OnDemand extends HTMLElement {
  connectedCallback() {
    if (this.panel) return;
    this.panel = this.closest('[role="tabpanel"]');
    const form = this.closest("form");
    for (const name of ["composer:load", "composer:change"]) form.addEventListener(name, () => this.#mark());
    this.panel.addEventListener("tab:show", () => this.#load());
    this.#mark();
    if (!this.panel.hidden) this.#load();
  }

  #mark() {
    const { elements } = this.closest("form");
    const texts = this.dataset.fills.split(" ").map((name) => elements[name]?.value.trim() ?? "");
    const isFilled = texts.some((text) => text && !/^(\[\s*\]|\{\s*\})$/.test(text));
    document
      .getElementById(this.panel.getAttribute("aria-labelledby"))
      .toggleAttribute("data-filled", isFilled);
  }

  async #load() {
    if (this.loading) return;
    this.loading = true;
    try {
      await addStyleSheet(this.dataset.style);
      await window.htmx.ajax("GET", this.dataset.url, { source: this, target: this, swap: "innerHTML" });
      const { mount } = await import(this.dataset.module);
      mount(this);
    } catch (error) {
      this.loading = false; // the playground is away; the next look tries again
      console.warn("A part of the composer could not be loaded.", error);
    }
  }
}

customElements.define("on-demand", OnDemand);
