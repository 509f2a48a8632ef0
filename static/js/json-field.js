// <json-field data-pointer="/query/site" data-types="text number" [data-list] [data-always]>
// One member of the request: not set (unless data-always), null, or a value. Expects a label,
// .field-editor, select.field-type and .field-error inside.

import { freshId, make } from "./dom.js";
import { keysOf } from "./json-pointer.js";
import { documentOf } from "./request-document.js";
import { makeEditor } from "./value-editors.js";
import { convert, KINDS, kindOf } from "./value-kinds.js";

const UNSET = "unset";
/** An empty text, as JSON. A field that is emptied is not set; this takes the menu, or the JSON. */
const EMPTY = '""';

class JsonField extends HTMLElement {
  connectedCallback() {
    if (this.document) return;
    this.keys = keysOf(this.dataset.pointer);
    this.types = (this.dataset.types ?? "text").split(" ");
    this.control = freshId("field");
    this.select = this.querySelector(".field-type");
    this.error = this.querySelector(".field-error");
    this.holder = this.querySelector(".field-editor");
    this.error.id = freshId("error");
    this.label = this.querySelector("label");
    this.label.htmlFor = this.control;
    this.document = documentOf(this);
    const kinds = [...new Set([...this.types, "null", "json"])];
    if (!("always" in this.dataset)) this.#offer(UNSET, "not set");
    for (const kind of kinds) this.#offer(kind);
    this.holder.addEventListener("input", () => this.#typed());
    this.select.addEventListener("change", () => this.#retyped());
    this.document.addEventListener("change", ({ detail }) => {
      if (detail.isOther) this.raw = undefined;
      if (detail.origin !== this) this.render();
    });
    this.render();
  }

  focus() {
    this.holder.querySelector("input, textarea")?.focus();
  }

  /** Shows what is wrong with the value ("" for nothing); only an error makes it invalid. */
  complain(message, level = "error") {
    const isError = Boolean(message) && level === "error";
    this.error.textContent = message;
    this.error.hidden = !message;
    this.error.dataset.level = level;
    for (const input of this.holder.querySelectorAll("input, textarea")) {
      input.setAttribute("aria-invalid", String(isError));
    }
  }

  /** Shows what the document says, unless it says what it said before. */
  render() {
    if (this.document.error) return;
    const node = this.document.node(this.keys);
    const raw = node ? this.document.source(this.keys) : null;
    const blocked = !node && !this.document.accepts(this.keys.slice(0, -1));
    if (raw === this.raw && blocked === this.blocked) return;
    this.raw = raw;
    this.blocked = blocked;
    this.keepsEmpty = raw === EMPTY;
    this.#edit(node ? kindOf(node, this.types) : UNSET, raw);
    for (const control of this.querySelectorAll("input, textarea, select, button"))
      control.disabled = blocked;
    this.#settle();
  }

  #offer(kind, text = KINDS[kind]) {
    if ([...this.select.options].some((option) => option.value === kind)) return;
    this.select.append(make("option", { value: kind }, text));
  }

  /** Puts the editor of a kind in place and shows `raw` in it. */
  #edit(kind, raw) {
    const shown = kind === UNSET ? this.types[0] : kind;
    if (shown !== this.shown || kind === UNSET) this.#replaceEditor(shown);
    this.#mark(kind);
    if (kind !== UNSET) this.editor.show(raw);
  }

  #mark(kind) {
    this.#offer(kind);
    this.select.value = kind;
    this.dataset.kind = kind;
    this.#hint();
  }

  /** An empty text that is sent has to look different from nothing. */
  #hint() {
    const input = this.holder.querySelector(":scope > input, :scope > textarea");
    const isEmpty = this.dataset.kind === "text" && this.#isOptional;
    if (input) input.placeholder = isEmpty ? "empty text" : this.#placeholder;
  }

  get #placeholder() {
    return this.dataset.placeholder || (this.shown === "json" ? "{ }" : "");
  }

  #replaceEditor(shown) {
    this.shown = shown;
    this.editor = makeEditor(shown, {
      id: this.control,
      label: this.label.textContent,
      describedBy: this.error.id,
      list: this.dataset.list,
      placeholder: this.#placeholder,
    });
    this.holder.replaceChildren(this.editor.element);
  }

  #settle() {
    this.complain("");
    this.document.complain(this, null);
  }

  #typed() {
    let raw;
    try {
      raw = this.editor.read();
    } catch (error) {
      this.complain(error.message);
      this.document.complain(this, `${this.keys.join(".")}: ${error.message}`);
      return;
    }
    if (raw === EMPTY && this.#isOptional && !this.keepsEmpty) {
      this.#clear();
      return;
    }
    this.#mark(this.shown);
    this.#write(raw);
  }

  get #isOptional() {
    return !("always" in this.dataset) && !("required" in this.dataset);
  }

  /** Takes the member out of the document; the editor stays, and with it the focus. */
  #clear() {
    this.#settle();
    this.#mark(UNSET);
    this.raw = null;
    this.document.remove(this.keys, this);
  }

  #retyped() {
    const kind = this.select.value;
    if (kind === UNSET) {
      this.document.remove(this.keys, this);
      this.render();
      return;
    }
    const raw = convert(this.raw, kind);
    this.keepsEmpty = raw === EMPTY;
    this.#edit(kind, raw);
    this.#write(raw);
    this.focus();
  }

  #write(raw) {
    this.#settle();
    this.document.set(this.keys, raw, this);
    this.raw = this.document.source(this.keys);
  }
}

customElements.define("json-field", JsonField);
