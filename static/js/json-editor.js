// <json-editor> around the `document` textarea: the JSON view of the request. The code editor
// is loaded when the view is first shown; without it the textarea does the work.

import { indent } from "./json-edit.js";
import { parse } from "./json-text.js";
import { documentOf } from "./request-document.js";

/** What some programs put before a text: not JSON, and not to be seen. */
const BOM = "\uFEFF";

class JsonEditor extends HTMLElement {
  connectedCallback() {
    if (this.area) return;
    this.area = this.querySelector("textarea");
    this.problem = this.querySelector(".json-problem");
    this.document = documentOf(this);
    this.area.addEventListener("input", () => {
      if (this.area.value.startsWith(BOM)) this.area.value = this.area.value.slice(1);
      this.document.reread(this);
    });
    this.document.addEventListener("change", ({ detail }) => this.#changed(detail.origin, detail.isOther));
    this.querySelector("[data-tidy]").addEventListener("click", () => this.#tidy());
    const panel = this.closest('[role="tabpanel"]');
    panel.addEventListener("tab:show", () => this.#load());
    if (!panel.hidden) this.#load();
    this.#changed(this);
  }

  async #load() {
    const address = document.body.dataset.editor;
    if (this.loading || !address) return;
    this.loading = true;
    try {
      const { mount } = await import(address);
      this.editor = mount({
        area: this.area,
        check: (text) => problemOf(text),
        changed: (text) => this.document.write(text, this),
      });
      this.dataset.editor = "code";
    } catch (error) {
      console.warn("The code editor could not be loaded; the plain text field stays.", error);
    }
  }

  #changed(origin, isOther) {
    if (isOther) this.editor?.load(this.document.text);
    else if (origin !== this) this.editor?.write(this.document.text);
    const { error, obstacle } = this.document;
    this.problem.textContent = error ? error.sentence : (obstacle ?? "");
    this.area.setAttribute("aria-invalid", String(Boolean(error)));
    this.querySelector("[data-tidy]").disabled = Boolean(error);
  }

  /** Indents the text anew. The button works only while the text can be read. */
  #tidy() {
    this.document.write(indent(this.document.text));
  }
}

function problemOf(text) {
  try {
    parse(text);
    return null;
  } catch (error) {
    return error;
  }
}

customElements.define("json-editor", JsonEditor);
