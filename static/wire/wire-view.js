// <wire-view data-raw="URL" data-annotated="URL" data-style="URL" data-module="URL">: the view of the
// Wire tab. Its links ([data-view]) choose between bytes and the annotated exchange, whose style sheet
// and module are loaded then; the choice is remembered.
//
// Opened as a page, such a link shows the tab in that view (data-open), and with `&frame=7` that
// frame (data-frame). When the run ends, the annotated exchange is loaded again, with the findings of
// the conformance report, unless it is being read.

import { addStyleSheet } from "../site/dom.js";
import { recall, remember } from "../site/storage.js";

const KEY = "wire-view";

class WireView extends HTMLElement {
  connectedCallback() {
    this.links = [...this.querySelectorAll("[data-view]")];
    this.abort = new AbortController();
    this.isFinal = "final" in (document.getElementById("run-cursor")?.dataset ?? {});
    document.addEventListener("run:progress", ({ detail }) => this.#onProgress(detail), {
      signal: this.abort.signal,
    });
    this.addEventListener("click", (event) => this.#onClick(event));
    const { open, frame } = this.dataset;
    this.#choose(open ?? recall(KEY) ?? "raw");
    // Elements that are defined later in the page are needed.
    if (open) setTimeout(() => this.#open(Number(frame)));
  }

  disconnectedCallback() {
    this.abort.abort();
  }

  #onProgress(detail) {
    if (this.isFinal || !("final" in detail)) return;
    this.isFinal = true;
    const list = this.#list;
    const isShown = list.dataset.url === this.dataset.annotated && list.items?.firstElementChild;
    if (isShown && !list.querySelector("[data-chosen]")) list.restart();
  }

  #onClick(event) {
    const link = event.target.closest("[data-view]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    remember(KEY, link.dataset.view);
    if (this.#choose(link.dataset.view)) this.#list.restart();
  }

  get #list() {
    return this.parentElement.querySelector("paged-list");
  }

  /** Returns whether the view is another one now. */
  #choose(view) {
    const chosen = this.links.find((link) => link.dataset.view === view) ?? this.links[0];
    for (const link of this.links)
      if (link === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    if (chosen.dataset.view === "annotated") {
      addStyleSheet(this.dataset.style);
      import(this.dataset.module).catch(() => console.warn("The annotated exchange cannot be used."));
    }
    const url = this.dataset[chosen.dataset.view];
    if (this.#list.dataset.url === url) return false;
    this.#list.dataset.url = url;
    document.getElementById("wire-jump").replaceChildren();
    return true;
  }

  #open(frame) {
    const response = this.closest("#response");
    if (frame > 0)
      response.dispatchEvent(
        new CustomEvent("frame:show", { bubbles: true, detail: { where: "wire", seq: frame } }),
      );
    else this.closest("tab-set").show("tab-wire");
  }
}

customElements.define("wire-view", WireView);
