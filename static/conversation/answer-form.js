// <answer-form data-key>: an agent's questions. What was filled in survives a reload until it is
// sent (secrets excepted), the form can be put away for later, and the request that the answers
// make is shown while one looks at it.

import { giveFocus } from "../site/focus.js";
import { forget, recall, remember } from "../site/storage.js";

const PREVIEW_AFTER_MS = 300;

/** Removes the error of a question whose answer was changed. The next send checks all of them. */
function settle(control) {
  const question = control.closest(".question");
  question?.querySelector(".question-error")?.remove();
  for (const part of [question, ...(question?.querySelectorAll("[aria-invalid]") ?? [])])
    part?.removeAttribute("aria-invalid");
}

class AnswerForm extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector(".ask-form");
    if (!this.form) return;
    this.fold = this.querySelector(".ask-fold");
    this.preview = this.querySelector("[data-preview]");
    const wrong = this.querySelector('[aria-invalid="true"]') ?? this.querySelector(".ask-wrong");
    if (wrong) this.#focus(wrong);
    else this.#restore();
    this.form.addEventListener("input", ({ target }) => {
      settle(target);
      this.#changed();
    });
    this.form.addEventListener("click", (event) => event.target.closest("[data-later]") && this.#putAway());
    this.fold.addEventListener("toggle", () => this.#save());
    this.preview.addEventListener("toggle", () => this.#show());
    this.#name();
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  /** The answers were sent: nothing is kept of them here. */
  sent() {
    this.done = true;
    forget(this.#key, sessionStorage);
  }

  /** The forms that are sent with this one: of all calls of a reply. */
  get together() {
    const { calls } = this.dataset;
    return calls ? document.querySelectorAll(`answer-form[data-calls="${calls}"]`) : [this];
  }

  get #key() {
    return `answers.${this.dataset.key}`;
  }

  /** The controls that are kept: what is typed into a password field is in no storage. */
  get #controls() {
    return [...this.form.elements].filter((each) => each.name && !["hidden", "password"].includes(each.type));
  }

  #changed() {
    this.#name();
    this.#save();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#show(), PREVIEW_AFTER_MS);
  }

  #show() {
    for (const { preview } of this.together)
      if (preview?.open) window.htmx.trigger(preview.querySelector(".ask-call"), "preview:refresh");
  }

  /** The line that says how the answers are sent, while the choice is folded away. */
  #name() {
    const chosen = this.form.querySelector('[name="strategy"]:checked');
    if (chosen) this.querySelector("[data-chosen]").textContent = chosen.dataset.label;
  }

  #putAway() {
    this.fold.open = false;
    this.fold.querySelector("summary").focus();
  }

  #save() {
    if (this.done) return;
    const values = this.#controls.map((each) =>
      ["radio", "checkbox"].includes(each.type) ? each.checked : each.value,
    );
    remember(this.#key, JSON.stringify({ open: this.fold.open, values }), sessionStorage);
  }

  #restore() {
    let kept;
    try {
      kept = JSON.parse(recall(this.#key, sessionStorage));
    } catch {
      return;
    }
    const controls = this.#controls;
    if (kept?.values?.length !== controls.length) return;
    this.fold.open = kept.open;
    for (const [index, each] of controls.entries()) {
      const value = kept.values[index];
      if (typeof value === "boolean") each.checked = value;
      else each.value = value;
    }
  }

  #focus(control) {
    giveFocus(control.matches("fieldset") ? control.querySelector("input") : control);
  }
}

// Declined, or taken back: the button is gone, and the focus goes on to what stands there now.
document.addEventListener("htmx:afterSettle", (event) => {
  if (!event.detail.pathInfo?.requestPath.endsWith("/answers/declined/")) return;
  giveFocus(event.target.closest("answer-form")?.querySelector("summary, button"));
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, target, xhr } = event.detail;
  const form = requestConfig?.elt.closest("answer-form");
  if (form && target.id === "response" && xhr.status < 400) form.together.forEach((each) => each.sent());
});

customElements.define("answer-form", AnswerForm);
