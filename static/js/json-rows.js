// <json-rows data-pointer="/query" data-known="text site" data-name="filter">
// The members of an object that have no field of their own, each with name, value and kind.

import { iconButton, make } from "./dom.js";
import { keysOf, pointerOf } from "./json-pointer.js";
import { pendingRow } from "./pending-row.js";
import { documentOf } from "./request-document.js";

class JsonRows extends HTMLElement {
  connectedCallback() {
    if (this.document) return;
    this.keys = keysOf(this.dataset.pointer);
    this.known = new Set(this.dataset.known.split(" "));
    this.list = this.querySelector(".rows-list");
    this.rows = new Map();
    this.document = documentOf(this);
    this.querySelector("[data-add]").addEventListener("click", () => this.#add());
    this.document.addEventListener("change", ({ detail }) => {
      if (detail.isOther) for (const row of this.querySelectorAll(":scope > .row")) row.remove();
      this.render();
    });
    this.render();
  }

  render() {
    if (this.document.error) return;
    const members = this.document.node(this.keys)?.members ?? [];
    const names = [...new Set(members.map(({ key }) => key))].filter((name) => !this.known.has(name));
    if (names.join("\0") !== [...this.rows.keys()].join("\0")) this.#rebuild(names);
    this.querySelector("[data-add]").disabled = !this.document.accepts(this.keys);
    this.toggleAttribute("data-empty", !names.length);
  }

  #rebuild(names) {
    const old = this.rows;
    this.rows = new Map(names.map((name) => [name, old.get(name) ?? this.#makeRow(name)]));
    for (const [name, row] of old) {
      if (this.rows.has(name)) continue;
      row.remove();
      this.document.complain(row, null);
    }
    for (const row of this.rows.values()) this.list.append(row);
  }

  #makeRow(name) {
    const label = this.dataset.name;
    const input = make("input", {
      className: "input mono row-name",
      value: name,
      autocomplete: "off",
      spellcheck: false,
      "aria-label": `Name of the ${label}`,
    });
    const error = make("p", { className: "field-error", hidden: true });
    const field = make(
      "json-field",
      { className: "field field--bare" },
      make("label", { className: "visually-hidden" }, `Value of the ${label} ${name}`),
      make("div", { className: "field-editor" }),
      make("select", { className: "field-type", "aria-label": `Kind of the ${label} ${name}` }),
      make("p", { className: "field-error", hidden: true }),
    );
    Object.assign(field.dataset, {
      pointer: pointerOf([...this.keys, name]),
      types: "text number boolean list json",
      always: "",
    });
    const row = make(
      "div",
      { className: "row" },
      input,
      field,
      iconButton("close", `Remove the ${label}`, () => this.#remove(row)),
      error,
    );
    input.addEventListener("input", () => this.#rename(row, input, error));
    return row;
  }

  #nameOf(row) {
    return [...this.rows].find(([, each]) => each === row)[0];
  }

  #rename(row, input, error) {
    const from = this.#nameOf(row);
    const to = input.value.trim();
    const problem = !to ? "A name is missing" : to === from ? "" : this.#problemOf(to);
    error.textContent = problem;
    error.hidden = !problem;
    input.setAttribute("aria-invalid", String(Boolean(problem)));
    this.document.complain(row, problem || null);
    if (problem || to === from) return;
    this.rows = new Map([...this.rows].map(([name, each]) => [each === row ? to : name, each]));
    const field = row.querySelector("json-field");
    field.keys = [...this.keys, to];
    field.dataset.pointer = pointerOf(field.keys);
    this.document.rename([...this.keys, from], to, this);
  }

  #remove(row) {
    this.document.remove([...this.keys, this.#nameOf(row)], this);
    this.querySelector("[data-add]").focus();
  }

  #add() {
    const row = pendingRow(this.dataset.name, {
      problemOf: (name) => this.#problemOf(name),
      add: (name, raw, part) => this.#adopt(name, raw, part),
      dropped: () => this.querySelector("[data-add]").focus(),
    });
    this.list.after(row);
    row.querySelector(".row-name").focus();
  }

  /** Writes a pending row down; the focus goes on in the row that shows it now. */
  #adopt(name, raw, part) {
    this.document.set([...this.keys, name], raw, this);
    const row = this.rows.get(name);
    const place = { name: ".row-name", kind: ".field-type", value: ".field-editor :is(input, textarea)" };
    const control = row?.querySelector(place[part]);
    control?.focus();
    if (part !== "kind") control?.setSelectionRange(control.value.length, control.value.length);
  }

  #problemOf(name) {
    const isTaken = this.known.has(name) || this.document.node([...this.keys, name]) !== undefined;
    return isTaken ? `“${name}” is there already` : "";
  }
}

customElements.define("json-rows", JsonRows);
