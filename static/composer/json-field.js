// <json-field data-pointer="/query/site" data-types="text number" [data-list] [data-required] [data-bare]
// [data-shown]>
// One member of the request: not set, null, or a value. A member that is not set is hidden until
// open() shows it, unless it is data-shown; nothing is written before a value is entered. Required fields are always shown, and
// have no button that removes them; nor have bare ones, whose row has it. Expects a label,
// .field-editor, select.field-type and .field-error inside.

import { freshId, iconButton, make } from "../site/dom.js";
import { keysOf, pointerOf } from "./json-pointer.js";
import { documentOf } from "./request-document.js";
import { makeEditor } from "./value-editors.js";
import { convert, KINDS, kindOf } from "./value-kinds.js";

const UNSET = "unset";
const CONTROLS = "input, textarea, select, button";

class JsonField extends HTMLElement {
  connectedCallback() {
    if (this.document) return;
    const { pointer, types = "text" } = this.dataset;
    /** Null until the member has a name: then bind() writes what was entered. */
    this.keys = pointer === undefined ? null : keysOf(pointer);
    this.types = types.split(" ");
    this.control = freshId("field");
    this.select = this.querySelector(".field-type");
    this.error = this.querySelector(".field-error");
    this.holder = this.querySelector(".field-editor");
    this.error.id = freshId("error");
    this.hint = this.querySelector(".field-hint");
    this.label = this.querySelector("label");
    if (this.hint) this.hint.id = freshId("hint");
    this.#explain();
    this.label.htmlFor = this.control;
    this.document = documentOf(this);
    for (const kind of new Set([...this.types, "null", "json"])) this.#addKind(kind);
    if (!this.isFixed) this.select.after(this.#removeButton());
    this.holder.addEventListener("input", () => this.#typed());
    this.select.addEventListener("change", () => this.#retyped());
    this.document.addEventListener("change", ({ detail }) => {
      if (detail.isOther) this.#forget();
      if (detail.origin !== this) this.render();
    });
    this.render();
  }

  /** Whether the field itself cannot remove its member. */
  get isFixed() {
    return "required" in this.dataset || "bare" in this.dataset;
  }

  get isSet() {
    return this.dataset.kind !== UNSET;
  }

  /** The name of the member, as the form shows it. */
  get name() {
    return this.label.firstChild.textContent.trim();
  }

  focus() {
    const inputs = [...this.holder.querySelectorAll("input, textarea")];
    (inputs.find(({ checked }) => checked) ?? inputs[0] ?? this.select).focus();
  }

  /** Shows the field although nothing is set. */
  open() {
    this.isOpen = true;
    this.#show();
  }

  /** Gives the member its keys, and writes what was entered before. */
  bind(keys) {
    this.keys = keys;
    this.dataset.pointer = pointerOf(keys);
    this.#explain();
    if (this.unwritten === undefined) return;
    const raw = this.unwritten;
    this.unwritten = undefined;
    this.#write(raw);
  }

  /** Shows what is wrong with the value ("" for nothing), and a fix; only an error makes it invalid. */
  complain(message, level = "error", ...fix) {
    const isError = Boolean(message) && level === "error";
    this.problem = message;
    // A button that is pressed while the field loses the focus would get no click if it was replaced.
    const fresh = make("p", {}, message, ...fix);
    const old = this.error.childNodes;
    const isSame = [...fresh.childNodes].every((node, at) => node.isEqualNode(old[at] ?? null));
    if (!isSame || fresh.childNodes.length !== old.length) this.error.replaceChildren(...fresh.childNodes);
    this.error.hidden = !message;
    this.error.dataset.level = level;
    for (const input of this.holder.querySelectorAll("input, textarea"))
      input.setAttribute("aria-invalid", String(isError));
  }

  /** Shows the value in the document, unless it is the one that is shown. */
  render() {
    if (this.document.error || (!this.keys && this.editor)) return;
    const node = this.keys && this.document.node(this.keys);
    const raw = node ? this.document.source(this.keys) : null;
    const isBlocked = Boolean(this.keys) && !node && !this.document.accepts(this.keys.slice(0, -1));
    if (raw === this.raw && isBlocked === this.isBlocked) return;
    this.raw = raw;
    this.isBlocked = isBlocked;
    this.#edit(node ? kindOf(node, this.types) : UNSET, raw);
    for (const control of this.querySelectorAll(CONTROLS)) control.disabled = isBlocked;
    this.#settle();
  }

  /** Lets the label be explained: its name is in the request that the form composes. */
  #explain() {
    if (this.keys) this.label.dataset.explain = `#${this.dataset.pointer}`;
  }

  #forget() {
    this.raw = undefined;
    this.isOpen = this.isEdited = false;
  }

  #show() {
    this.hidden = !this.isSet && !this.isOpen && !this.isFixed && !("shown" in this.dataset);
  }

  #addKind(kind, text = KINDS[kind]) {
    if ([...this.select.options].some((option) => option.value === kind)) return;
    this.select.append(make("option", { value: kind }, text));
  }

  #removeButton() {
    const button = iconButton("close", `Remove ${this.name}`, () => {
      focusBeside(button);
      this.#remove();
    });
    button.classList.add("field-remove");
    return button;
  }

  /** Puts the editor of a kind in place and shows `raw` in it. */
  #edit(kind, raw) {
    const shown = kind === UNSET ? this.types[0] : kind;
    if (shown !== this.shown || kind === UNSET) this.#replaceEditor(shown);
    this.#mark(kind);
    if (kind !== UNSET) this.editor.show(raw);
  }

  #mark(kind) {
    // "Not set" can be seen, and left, but not chosen: that is what the remove button is for.
    if (kind === UNSET) this.#addKind(UNSET, "not set");
    else this.select.querySelector(`[value="${UNSET}"]`)?.remove();
    this.#addKind(kind);
    this.select.value = kind;
    this.dataset.kind = kind;
    this.#show();
    this.#showPlaceholder();
  }

  /** An empty text that is sent has to look different from nothing. */
  #showPlaceholder() {
    const input = this.holder.querySelector(":scope > input, :scope > textarea");
    const isText = this.dataset.kind === "text" && !("required" in this.dataset);
    if (input) input.placeholder = isText ? "empty string" : this.#placeholder;
  }

  /** What a field that is not set says of its member. */
  get #placeholder() {
    return this.dataset.placeholder || this.hint?.textContent || (this.shown === "json" ? "{ }" : "");
  }

  #replaceEditor(shown) {
    this.shown = shown;
    this.editor = makeEditor(shown, {
      id: this.control,
      label: this.label.textContent.trim().replace(/\s+/g, " "),
      describedBy: [this.hint?.id, this.error.id].filter(Boolean).join(" "),
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
    this.isEdited = true;
    let raw;
    try {
      raw = this.editor.read();
    } catch (error) {
      this.#refuse(error.message);
      return;
    }
    this.#mark(this.shown);
    this.#write(raw);
  }

  /** Keeps the request from being sent while the field holds something that is not a value. */
  #refuse(message) {
    this.complain(message);
    this.document.complain(this, `${this.keys?.join(".") ?? "A value"}: ${message}`);
  }

  #remove() {
    this.#forget();
    this.#settle();
    this.document.remove(this.keys, this);
    this.render();
  }

  #retyped() {
    this.isEdited = true;
    const kind = this.select.value;
    const raw = convert(this.unwritten ?? this.raw, kind);
    if (raw !== undefined) {
      this.#edit(kind, raw);
      this.#write(raw);
    } else {
      // Nothing is written before there is a value of that kind.
      this.#replaceEditor(kind);
      this.#settle();
      if (this.isSet) this.#refuse(`Enter a ${KINDS[kind]}`);
    }
    this.focus();
  }

  #write(raw) {
    this.#settle();
    if (!this.keys) {
      this.unwritten = raw;
      return;
    }
    this.document.set(this.keys, raw, this);
    this.raw = this.document.source(this.keys);
  }
}

/** Moves the focus from the remove button of a field that goes to the next one, the one before, or "Add field". */
export function focusBeside(button) {
  const form = button.closest("[data-form-fields]");
  const buttons = [...form.querySelectorAll(".field-remove")].filter((each) => each.checkVisibility());
  const at = buttons.indexOf(button);
  (buttons[at + 1] ?? buttons[at - 1] ?? form.querySelector("add-field button")).focus();
}

customElements.define("json-field", JsonField);
