// Notes at the top right that cover nothing one works with: <toast-note data-level="success">.
// Those of the server are in the page already. All but errors go by themselves, though not
// from under a hand or the focus.

import { iconButton, make } from "./dom.js";

const SHOWN_MS = 8000;
/** An offer is to be found, read and decided on. */
const SHOWN_WITH_ACTION_MS = 20000;

class ToastNote extends HTMLElement {
  connectedCallback() {
    if (!this.close) {
      this.close = iconButton("close", "Dismiss", () => this.leave());
      this.append(this.close);
      this.addEventListener("focusin", ({ relatedTarget }) => {
        if (!this.contains(relatedTarget)) this.before = relatedTarget;
      });
    }
    if (this.dataset.level !== "error") {
      const shown = "action" in this.dataset ? SHOWN_WITH_ACTION_MS : SHOWN_MS;
      this.timer = setInterval(() => this.#expire(), shown);
    }
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  /** Goes; the focus, where the note has it, to where it came from. */
  leave() {
    const had = this.contains(document.activeElement);
    this.remove();
    if (had) (this.before?.isConnected ? this.before : document.querySelector("main")).focus();
  }

  #expire() {
    if (!this.matches(":hover, :focus-within")) this.remove();
  }
}

/**
 * Shows a note in place of the last one of its level, and returns it; `action` is {label, run}, for instance to
 * take back what the note tells of.
 */
export function toast(title, text, { level = "info", action } = {}) {
  const note = make("toast-note", { className: "toast" });
  note.dataset.level = level;
  note.append(make("p", {}, make("strong", {}, title), ` ${text}`));
  if (action) {
    note.dataset.action = "";
    const button = make("button", { type: "button", className: "btn btn-small" }, action.label);
    button.addEventListener("click", () => {
      note.leave();
      action.run();
    });
    note.append(button);
  }
  dismissToasts(level);
  document.getElementById(level === "error" ? "alerts" : "notes").append(note);
  return note;
}

/** Takes away the notes of a level. */
function dismissToasts(level) {
  for (const note of document.querySelectorAll(`toast-note[data-level="${level}"]`)) note.remove();
}

customElements.define("toast-note", ToastNote);
