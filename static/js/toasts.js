// Notes at the top right that cover nothing one works with: <toast-note data-level="success">.
// Those of the server are in the page already. All but errors go by themselves, though not
// from under a hand or the focus.

import { iconButton, make } from "./dom.js";

const SHOWN_MS = 8000;

class ToastNote extends HTMLElement {
  connectedCallback() {
    if (!this.close) {
      this.close = iconButton("close", "Dismiss", () => this.remove());
      this.append(this.close);
    }
    if (this.dataset.level !== "error") this.timer = setInterval(() => this.#expire(), SHOWN_MS);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  #expire() {
    if (!this.matches(":hover, :focus-within")) this.remove();
  }
}

/**
 * Shows a note in place of the last one of its level; `action` is {label, run}, for instance to
 * take back what the note tells of.
 */
export function toast(title, text, { level = "info", action } = {}) {
  const note = make("toast-note", { className: "toast" });
  note.dataset.level = level;
  note.append(make("p", {}, make("strong", {}, title), ` ${text}`));
  if (action) {
    const button = make("button", { type: "button", className: "btn btn-small" }, action.label);
    button.addEventListener("click", () => {
      note.remove();
      action.run();
    });
    note.append(button);
  }
  dismissToasts(level);
  document.getElementById(level === "error" ? "alerts" : "notes").append(note);
}

/** Takes away the notes of a level. */
export function dismissToasts(level) {
  for (const note of document.querySelectorAll(`toast-note[data-level="${level}"]`)) note.remove();
}

customElements.define("toast-note", ToastNote);
