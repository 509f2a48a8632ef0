// <json-rows data-pointer="/query" data-known="text site" data-name="filter">
// The members of an object that have no field of their own, each with name, value and type. A row
// that add() makes is written into the document once it has a name and a value.

import { iconButton, make } from "../site/dom.js";
import { focusBeside } from "./json-field.js";
import { keysOf, pointerOf } from "./json-pointer.js";
import { documentOf } from "./request-document.js";

class JsonRows extends HTMLElement {
  connectedCallback() {
    if (this.document) return;
    this.keys = keysOf(this.dataset.pointer);
    this.known = new Set(this.dataset.known.split(" "));
    /** Of each row {row, input, field, error}, and the `key` of its member, null before it is written. */
    this.rows = [];
    this.document = documentOf(this);
    this.document.addEventListener("change", ({ detail }) => {
      if (detail.isOther) this.#keepOnly(({ key }) => key !== null);
      this.render();
    });
    this.render();
  }

  render() {
    if (this.document.error) return;
    // The members of another protocol's request are not rows of this one.
    const members = (!this.closest("[hidden]") && this.document.node(this.keys)?.members) || [];
    const names = [...new Set(members.map(({ key }) => key))].filter((name) => !this.known.has(name));
    this.#keepOnly(({ key }) => key === null || names.includes(key));
    let before = null;
    for (const name of names) {
      const entry = this.#entryOf(name);
      const isInOrder =
        !before || before.row.compareDocumentPosition(entry.row) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (!isInOrder) before.row.after(entry.row);
      before = entry;
    }
  }

  /** Adds a row, and puts the focus into it. */
  add(name = "") {
    const entry = this.#append(null);
    entry.input.value = name;
    this.#renamed(entry);
    if (name) entry.field.focus();
    else entry.input.focus();
  }

  /** What is wrong with the name of a new member, "" for nothing. */
  problemOf(name) {
    const isTaken = this.known.has(name) || this.document.node([...this.keys, name]) !== undefined;
    return isTaken ? `“${name}” already exists` : "";
  }

  #keepOnly(isKept) {
    for (const entry of this.rows) {
      if (isKept(entry)) continue;
      entry.row.remove();
      for (const view of [entry, entry.field]) this.document.complain(view, null);
    }
    this.rows = this.rows.filter(isKept);
  }

  /** The row of a member: the one it has, the one that it was just written from, or a new one. */
  #entryOf(name) {
    const entry =
      this.rows.find(({ key }) => key === name) ??
      this.rows.find(({ key, field }) => key === null && field.keys?.at(-1) === name) ??
      this.#append(name);
    entry.key = name;
    return entry;
  }

  #append(key) {
    const label = this.dataset.name;
    const input = make("input", {
      className: "input mono row-name",
      value: key ?? "",
      placeholder: "name",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: false,
      "aria-label": `Name of the ${label}`,
    });
    const field = make(
      "json-field",
      { className: "field field--bare" },
      make("label", { className: "visually-hidden" }, `Value of the ${label} ${key ?? ""}`),
      make("div", { className: "field-editor" }),
      make("select", { className: "field-type", "aria-label": `Type of the ${label} ${key ?? ""}` }),
      make("p", { className: "field-error", hidden: true }),
    );
    Object.assign(field.dataset, { types: "text number boolean list json", bare: "" });
    if (key !== null) field.dataset.pointer = pointerOf([...this.keys, key]);
    explain(input, key === null ? [] : [...this.keys, key]);
    const error = make("p", { className: "row-error field-error", hidden: true });
    const remove = iconButton("close", `Remove ${label}`, () => {
      focusBeside(remove);
      this.#remove(entry);
    });
    remove.classList.add("field-remove");
    const entry = {
      row: make("div", { className: "row" }, input, field, remove, error),
      input,
      field,
      error,
      key,
    };
    input.addEventListener("input", () => this.#renamed(entry));
    this.rows.push(entry);
    this.append(entry.row);
    return entry;
  }

  #renamed(entry) {
    const { input, field, key } = entry;
    const to = input.value.trim();
    const problem = to === key ? "" : to ? this.problemOf(to) : key === null ? "" : "Enter a name";
    this.#complain(entry, problem);
    explain(input, problem ? [] : [...this.keys, to]);
    if (problem || !to) {
      if (key === null) field.keys = null;
      return;
    }
    const keys = [...this.keys, to];
    field.label.textContent = `Value of the ${this.dataset.name} ${to}`;
    if (key === null) field.bind(keys);
    else if (to !== key) {
      entry.key = to;
      field.bind(keys);
      this.document.rename([...this.keys, key], to, this);
    }
  }

  #complain(entry, problem) {
    entry.error.textContent = problem;
    entry.error.hidden = !problem;
    entry.input.setAttribute("aria-invalid", String(Boolean(problem)));
    this.document.complain(entry, problem || null);
  }

  #remove(entry) {
    if (entry.key === null) this.#keepOnly((each) => each !== entry);
    else this.document.remove([...this.keys, entry.key], this);
  }
}

/** Lets a name be explained; none that is incomplete or wrong. */
function explain(input, keys) {
  if (keys.at(-1)) input.dataset.explain = `#${pointerOf(keys)}`;
  else delete input.dataset.explain;
}

customElements.define("json-rows", JsonRows);
