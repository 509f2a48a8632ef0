// <conversation-strip>: says which turn the composer's request follows, and lets go of it; offers
// the edits back that were put aside when another turn was chosen. Names what Send does.

import { giveFocus } from "../site/focus.js";
import { keysOf } from "./json-pointer.js";
import { isEmpty, rowOf, wordsField } from "./protocols.js";
import { documentOf } from "./request-document.js";
import { toast } from "../site/toasts.js";

class ConversationStrip extends HTMLElement {
  connectedCallback() {
    if (this.field) return;
    this.field = this.querySelector('[name="parent"]');
    this.text = this.querySelector("[data-continues-text]");
    this.querySelector("[data-new-conversation]").addEventListener("click", () => this.#leave());
    this.querySelector("[data-restore-draft]").addEventListener("click", () =>
      this.dispatchEvent(new CustomEvent("draft:restore", { bubbles: true })),
    );
    const { form } = this.field;
    for (const name of ["composer:load", "composer:change"]) form.addEventListener(name, () => this.update());
    for (const name of ["pane:show", "htmx:afterSettle"])
      document.addEventListener(name, ({ target }) => target?.id !== "effective" && this.update());
    this.update();
    if (this.field.value && isEmpty(form.dataset.protocol, documentOf(this).value([]))) askNext(form);
  }

  get state() {
    return { parent: this.field.value, text: this.text.textContent };
  }

  set state({ parent, text }) {
    this.field.value = parent;
    this.text.textContent = text;
    this.field.form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));
  }

  /** Shows what data-draft, the name of the latest draft, and the fields of the form say. */
  update() {
    const follows = Boolean(this.field.value);
    const { draft } = this.dataset;
    this.querySelector("[data-draft-text]").textContent = draft ?? "";
    for (const part of this.querySelectorAll("[data-draft-note], [data-restore-draft]"))
      part.hidden = draft === undefined;
    for (const part of this.querySelectorAll("[data-follow-up], [data-new-conversation]"))
      part.hidden = !follows;
    this.hidden = !follows && draft === undefined;
    const hasRun = Boolean(document.getElementById("response")?.dataset.run);
    const purpose = follows ? " as follow-up" : hasRun ? " as new" : "";
    document.querySelector("[data-send-purpose]").textContent = purpose;
  }

  /** Stops following a turn. The document is unchanged. */
  clear() {
    this.state = { parent: "", text: "" };
  }

  #leave() {
    const before = this.state;
    const request = documentOf(this);
    const { text } = request;
    askNext(this.field.form); // The button goes, and with it the focus.
    if (!request.error) {
      for (const pointer of rowOf(this.field.form.dataset.protocol).carried) request.remove(keysOf(pointer));
      if (onlyTyped(request.value(["context"]))) request.remove(["context"]);
    }
    this.clear();
    toast("New conversation.", "Previous queries and the session context were removed.", {
      action: {
        label: "Undo",
        run: () => {
          request.write(text);
          this.state = before;
          this.querySelector("[data-new-conversation]").focus();
        },
      },
    });
  }
}

/** The next thing to do is to ask. */
function askNext(form) {
  const field = wordsField(form);
  if (field) field.focus();
  else form.addEventListener("list:ready", () => giveFocus(wordsField(form)), { once: true });
}

/** Whether nothing but the type of a conversation is left. */
function onlyTyped(context) {
  const keys = Object.keys(context ?? {});
  return keys.length === 1 && context["@type"] === "ConversationalContext";
}

customElements.define("conversation-strip", ConversationStrip);
