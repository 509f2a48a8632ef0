// <request-operation>: the operation of an NLWeb request, ask or await. The document decides which one
// is shown; the other one, once chosen, replaces it, and the metadata stay. What was composed of the
// first is kept until another request is opened.

import { set } from "./json-edit.js";
import { freshText, operationOf, showSections, wordsField } from "./protocols.js";
import { documentOf } from "./request-document.js";

const AWAIT = { promise_token: "", action: "checkin" };

class RequestOperation extends HTMLElement {
  connectedCallback() {
    if (this.form) return;
    this.form = this.closest("form");
    this.request = documentOf(this.form);
    /** Texts of documents by their operation. */
    this.kept = {};
    this.request.addEventListener("change", ({ detail }) => {
      if (detail.isOther) this.kept = {};
      this.show();
    });
    this.addEventListener("change", ({ target }) => this.#choose(target));
    this.show();
  }

  /** Shows the operation of the document; the latest one while that is invalid. */
  show() {
    if (this.request.error) return;
    const operation = operationOf(this.request.value([]));
    for (const input of this.querySelectorAll("input")) input.checked = input.value === operation;
    if (this.form.dataset.operation === operation) return;
    this.form.dataset.operation = operation;
    showSections(this.form);
  }

  #choose(input) {
    const operation = input.value;
    this.kept[this.form.dataset.operation] = this.request.text;
    const { version } = this.form.elements;
    const meta = this.request.source(["meta"]) || JSON.stringify({ version: version.value });
    const fresh =
      operation === "await" ? JSON.stringify(AWAIT, null, 2) : freshText("nlweb", "", version.value);
    this.request.write(set(this.kept[operation] ?? fresh, ["meta"], meta));
    // Arrow keys go on from one operation to the other.
    if (!input.matches(":focus-visible")) wordsField(this.form).focus();
  }
}

customElements.define("request-operation", RequestOperation);
