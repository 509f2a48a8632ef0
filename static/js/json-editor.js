// <json-editor> around the `document` textarea: the JSON view of the request. The code editor
// is loaded when the view is first shown; without it the textarea does the work.

import { parse } from "./json-text.js";
import { documentOf } from "./request-document.js";

class JsonEditor extends HTMLElement {
  connectedCallback() {
    if (this.area) return;
    this.area = this.querySelector("textarea");
    this.problem = this.querySelector(".json-problem");
    this.document = documentOf(this);
    this.area.addEventListener("input", () => this.document.reread(this));
    this.document.addEventListener("change", (event) => this.#changed(event.detail.origin));
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

  #changed(origin) {
    if (origin !== this) this.editor?.write(this.document.text);
    const { error, obstacle } = this.document;
    this.problem.textContent = error ? error.sentence : (obstacle ?? "");
    this.area.setAttribute("aria-invalid", String(Boolean(error)));
    this.querySelector("[data-tidy]").disabled = Boolean(error);
  }

  /** Indents the text anew; the parse above it made sure that nothing is lost but spaces. */
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

/** JSON text with two spaces a level. Works on tokens, so that numbers keep their digits. */
export function indent(text) {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return tokens.reduce((written, token, index) => {
    const empty = "{[".includes(tokens[index - 1] ?? " ");
    if ("{[".includes(token)) depth += 1;
    if ("}]".includes(token)) {
      depth -= 1;
      return written + (empty ? token : line() + token);
    }
    const opens = empty || tokens[index - 1] === ",";
    const lead = opens ? `\n${"  ".repeat(depth - ("{[".includes(token) ? 1 : 0))}` : "";
    return `${written}${lead}${token}${token === ":" ? " " : ""}`;
  }, "");
}

customElements.define("json-editor", JsonEditor);
