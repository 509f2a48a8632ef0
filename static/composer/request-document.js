// The one document behind the form and the JSON view. It lives in the form's `document`
// textarea, so that what is sent is what is seen; views subscribe to its "change" event.

import * as edit from "./json-edit.js";
import { parse, toValue } from "./json-text.js";

const documents = new WeakMap();

/** The document of the composer that `element` is part of. */
export function documentOf(element) {
  const form = element.closest("form") ?? document.getElementById("composer");
  if (!documents.has(form)) documents.set(form, new RequestDocument(form.elements.document));
  return documents.get(form);
}

/**
 * Emits "change" whenever the text or a complaint has changed; its detail: `origin`, and `isOther`
 * where another request was put in place.
 */
class RequestDocument extends EventTarget {
  #complaints = new Map();

  constructor(textarea) {
    super();
    this.textarea = textarea;
    this.#read();
  }

  get text() {
    return this.textarea.value;
  }

  /** Why the document cannot be sent as it stands: a sentence, or null. */
  get obstacle() {
    if (this.error) return `Invalid JSON at line ${this.error.line}, column ${this.error.column}`;
    if (this.root.type !== "object") return "The request must be a JSON object.";
    return this.#complaints.values().next().value ?? null;
  }

  /** Replaces the whole text; `origin` is the view that did, which need not hear of it. */
  write(text, origin = null) {
    if (text === this.text && origin) return;
    this.textarea.value = text;
    this.#read();
    this.#changed(origin);
  }

  /** Puts another request in place of this one: views forget what they hold of it. */
  load(text) {
    this.#complaints.clear();
    this.textarea.value = text;
    this.#read();
    this.dispatchEvent(new CustomEvent("change", { detail: { origin: null, isOther: true } }));
  }

  /** Takes over what was typed into the textarea itself. */
  reread(origin) {
    this.#read();
    this.#changed(origin);
  }

  /** Notes that a view holds something that cannot be written down (null: no more). */
  complain(view, sentence) {
    if ((this.#complaints.get(view) ?? null) === sentence) return;
    if (sentence) this.#complaints.set(view, sentence);
    else this.#complaints.delete(view);
    this.#changed(view);
  }

  node(keys) {
    return this.error ? undefined : edit.find(this.root, keys);
  }

  value(keys) {
    const node = this.node(keys);
    return node && toValue(node);
  }

  /** The JSON text of what `keys` lead to, "" where there is nothing. */
  source(keys) {
    const node = this.node(keys);
    return node ? edit.source(this.text, node) : "";
  }

  /** Whether a member can be set inside `keys`: all on the way is absent, an object, or in a list. */
  accepts(keys) {
    if (this.error) return false;
    const steps = [[], ...keys.map((_, index) => keys.slice(0, index + 1))];
    return steps.every((step, depth) => {
      const type = this.node(step)?.type ?? "object";
      return (
        type === "object" || (type === "array" && this.node(keys.slice(0, depth + 1)) && depth < keys.length)
      );
    });
  }

  set(keys, raw, origin) {
    this.write(edit.set(this.text, keys, raw), origin);
  }

  remove(keys, origin) {
    this.write(edit.remove(this.text, keys), origin);
  }

  rename(keys, name, origin) {
    this.write(edit.rename(this.text, keys, name), origin);
  }

  #read() {
    this.error = null;
    try {
      this.root = parse(this.text);
    } catch (error) {
      this.error = error;
    }
  }

  #changed(origin) {
    this.dispatchEvent(new CustomEvent("change", { detail: { origin } }));
  }
}
