// <request-operation data-protocol>: the operation of a request, of a protocol that has several. The
// document decides which one is shown; another one, once chosen, replaces it, and the members that
// both have stay. What was composed of the first is kept until another request is opened.

import { set } from "./json-edit.js";
import { freshText, operationIn, operationOf, rowOf, showSections, wordsField } from "./protocols.js";
import { documentOf } from "./request-document.js";

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
    const { protocol } = this.dataset;
    if (this.request.error || this.form.dataset.protocol !== protocol) return;
    const { name } = operationOf(protocol, this.request.value([]));
    for (const input of this.querySelectorAll("input")) input.checked = input.value === name;
    if (this.form.dataset.operation === name) return;
    this.form.dataset.operation = name;
    showSections(this.form);
  }

  #choose(input) {
    const { protocol } = this.dataset;
    const { value: version } = this.form.elements.version;
    const [old, chosen] = [
      operationIn(this.form),
      rowOf(protocol).operations.find(({ name }) => name === input.value),
    ];
    this.kept[old.name] = this.request.text;
    const fresh = freshText(protocol, "", version, chosen);
    const before = JSON.parse(freshText(protocol, "", version, old));
    let text = this.kept[chosen.name] ?? fresh;
    for (const name of Object.keys(JSON.parse(fresh)).filter((name) => name in before)) {
      const source = this.request.source([name]);
      if (source) text = set(text, [name], source);
    }
    this.request.write(text);
    // Arrow keys go on from one operation to the other.
    if (!input.matches(":focus-visible")) wordsField(this.form).focus();
  }
}

customElements.define("request-operation", RequestOperation);
