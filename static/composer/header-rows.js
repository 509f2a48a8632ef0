// <header-rows> with a textarea that holds [["name", "value"], ...] as JSON: shows it as rows.
// The textarea emits "change" whenever a row does. Unreadable JSON stays in the textarea.

import { iconButton, make } from "../site/dom.js";

class HeaderRows extends HTMLElement {
  connectedCallback() {
    if (this.source) return;
    this.source = this.querySelector("textarea");
    // The desk and the form of an agent have headers, too, and no tabs.
    const panel = this.closest("[role=tabpanel]");
    this.tab = panel && document.getElementById(panel.getAttribute("aria-labelledby"));
    this.list = this.querySelector(".rows-list");
    this.querySelector("[data-add]").addEventListener("click", () => this.#addRow("", "").focus());
    this.list.addEventListener("input", () => this.#write());
    this.source.form.addEventListener("composer:load", () => this.#show());
    this.#show();
  }

  #show() {
    const pairs = this.#read();
    this.source.hidden = Boolean(pairs);
    this.list.replaceChildren();
    for (const pair of pairs ?? []) this.#addRow(...pair);
    this.#mark();
  }

  /** Says at the tab that there are headers, or something that is not read as such. */
  #mark() {
    this.tab?.toggleAttribute("data-filled", this.#read()?.length !== 0);
  }

  #read() {
    try {
      const pairs = JSON.parse(this.source.value || "[]");
      const good = Array.isArray(pairs) && pairs.every((pair) => Array.isArray(pair) && pair.length === 2);
      return good ? pairs : null;
    } catch {
      return null;
    }
  }

  #addRow(name, value) {
    const props = { className: "input mono", autocomplete: "off", spellcheck: false };
    const nameInput = make("input", {
      ...props,
      value: name,
      placeholder: "Name",
      "aria-label": "Header name",
    });
    const valueInput = make("input", {
      ...props,
      value,
      placeholder: "value",
      "aria-label": "Header value",
    });
    const row = make("div", { className: "row row--pair" }, nameInput, valueInput);
    const remove = iconButton("close", "Remove header", () => {
      row.remove();
      this.#write();
      this.querySelector("[data-add]").focus();
    });
    row.append(remove);
    this.list.append(row);
    return nameInput;
  }

  #write() {
    const rows = [...this.list.children].map((row) =>
      [...row.querySelectorAll("input")].map((input) => input.value.trim()),
    );
    this.source.value = JSON.stringify(rows.filter(([name]) => name));
    this.#mark();
    this.source.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

customElements.define("header-rows", HeaderRows);
