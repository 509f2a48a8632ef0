// <json-list data-pointer="/input" data-kind="message" data-module>: a list of objects, each
// with fields of its own. What shows them is loaded when the list is first seen: most requests
// have none.

import { keysOf } from "./json-pointer.js";
import { documentOf } from "./request-document.js";

class JsonList extends HTMLElement {
  connectedCallback() {
    if (this.keys) return;
    this.keys = keysOf(this.dataset.pointer);
    this.document = documentOf(this);
    const panel = this.closest('[role="tabpanel"]');
    panel.addEventListener("tab:show", () => this.#load());
    if (!panel.hidden) this.#load();
  }

  async #load() {
    this.loading ??= import(this.dataset.module);
    const { mount } = await this.loading;
    if (this.mounted) return;
    this.mounted = true;
    mount(this);
    this.dispatchEvent(new CustomEvent("list:ready", { bubbles: true }));
  }
}

customElements.define("json-list", JsonList);
