// <json-list data-pointer="/input" data-kind="message" data-module [data-label]>: a list of objects, each
// with fields of its own. What shows them is loaded when the list is first seen: most requests have
// none. A list with a label is optional: it is shown where the request has it, and "Add field" adds it.

import { keysOf } from "./json-pointer.js";
import { documentOf } from "./request-document.js";

class JsonList extends HTMLElement {
  connectedCallback() {
    if (this.keys) return;
    this.keys = keysOf(this.dataset.pointer);
    this.document = documentOf(this);
    this.document.addEventListener("change", () => this.#show());
    this.#show();
  }

  /** Adds an entry, and puts the focus into it. */
  async add() {
    await this.#load();
    this.append();
  }

  #show() {
    if (this.document.error) return;
    if ("label" in this.dataset) this.hidden = !this.document.node(this.keys);
    if (!this.closest("[hidden]")) this.#load();
  }

  async #load() {
    this.loading ??= import(this.dataset.module).then(({ mount }) => {
      /** What adds an entry, once the list is shown. */
      this.append = mount(this);
      this.dispatchEvent(new CustomEvent("list:ready", { bubbles: true }));
    });
    await this.loading;
  }
}

customElements.define("json-list", JsonList);
