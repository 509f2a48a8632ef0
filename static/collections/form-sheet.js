// <form-sheet>: a dialog for forms. A link with data-sheet is opened in it instead of on a page of
// its own. It closes when its form was taken; with mistakes in it, it stays.

import { openSheet } from "../site/focus.js";

class FormSheet extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.body = this.querySelector("#sheet-body");
    document.addEventListener("click", (event) => this.#clicked(event));
    // Told to the form, whatever it is that the answer goes into.
    this.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
      if (detail.requestConfig.verb === "post" && detail.xhr.status < 300) this.dialog.close();
    });
    this.body.addEventListener("htmx:afterSettle", ({ detail }) => this.#loaded(detail));
    // What stands where nothing was gives way to the first thing.
    document.addEventListener("htmx:afterSwap", () => {
      if (document.querySelector("#outline > .folder-part")) document.querySelector("[data-empty]")?.remove();
    });
  }

  /** Fetches the form at `url` and shows it. */
  open(url, source) {
    return window.htmx.ajax("GET", url, { source, target: this.body, swap: "innerHTML" });
  }

  #loaded({ requestConfig }) {
    if (requestConfig.verb !== "get" || !this.body.firstElementChild) return;
    openSheet(this.dialog);
    document.activeElement.select?.();
  }

  #clicked(event) {
    const link = event.target.closest("a[data-sheet]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.open(link.href, link);
  }
}

customElements.define("form-sheet", FormSheet);
