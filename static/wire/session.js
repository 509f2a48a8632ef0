// <session-history data-url data-style>: fetched when its tab is shown and after every message of the run,
// but not while it is being edited. After a change the focus stays here.

import { addStyleSheet } from "../site/dom.js";
import { giveFocus } from "../site/focus.js";

const REST_MS = 500;

class SessionHistory extends HTMLElement {
  connectedCallback() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.panel = this.closest(".tabpanel");
    this.outdated = true;
    this.panel.addEventListener("tab:show", () => this.draw(), { signal });
    document.addEventListener("run:progress", () => this.outdate(), { signal });
    this.addEventListener("htmx:afterSettle", (event) => this.#settled(event), { signal });
  }

  disconnectedCallback() {
    this.abort.abort();
    clearTimeout(this.timer);
  }

  outdate() {
    this.outdated = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), REST_MS);
  }

  async draw() {
    if (!this.outdated || this.panel.hidden || this.querySelector("[data-editing][open]")) return;
    this.outdated = false;
    try {
      await addStyleSheet(this.dataset.style);
      await window.htmx.ajax("GET", this.dataset.url, { source: this, target: this, swap: "innerHTML" });
    } catch {
      this.outdated = true; // the playground is away; the next look tries again
    }
  }

  #settled(event) {
    if (event.detail.requestConfig?.verb !== "post") return;
    const wrong = this.querySelector('[aria-invalid="true"]');
    giveFocus(wrong ?? this.querySelector(".session-next"));
  }
}

customElements.define("session-history", SessionHistory);
