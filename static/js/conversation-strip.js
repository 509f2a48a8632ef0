// <conversation-strip>: says which turn the composer continues, and lets go of it: then nothing
// of that conversation goes along. Draft.js keeps what it says with the rest of the draft.

import { giveFocus } from "./focus.js";
import { languageOf, wordsField } from "./protocols.js";
import { documentOf } from "./request-document.js";
import { toast } from "./toasts.js";

class ConversationStrip extends HTMLElement {
  connectedCallback() {
    if (this.field) return;
    this.field = this.querySelector('[name="parent"]');
    this.text = this.querySelector("[data-continues-text]");
    this.querySelector("[data-new-conversation]").addEventListener("click", () => this.#leave());
    const { form } = this.field;
    if (this.field.value && languageOf(form).isEmpty(documentOf(this).value([]))) askNext(form);
  }

  get state() {
    return { parent: this.field.value, text: this.text.textContent };
  }

  set state({ parent, text }) {
    this.field.value = parent;
    this.text.textContent = text;
    this.hidden = !parent;
    this.field.form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));
  }

  /** Continues nothing any more; what is in the document stays. */
  clear() {
    this.state = { parent: "", text: "" };
  }

  #leave() {
    const before = this.state;
    const request = documentOf(this);
    const { text } = request;
    askNext(this.field.form); // The button goes, and with it the focus.
    if (!request.error) {
      for (const keys of languageOf(this.field.form).carried) request.remove(keys);
      if (onlyTyped(request.value(["context"]))) request.remove(["context"]);
    }
    this.clear();
    toast("New conversation.", "Earlier queries and the session context do not go along.", {
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
