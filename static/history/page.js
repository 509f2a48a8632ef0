// The page of the history: says what can be done with the runs that are ticked, and opens the
// question that comes before they are deleted. All of it works without, by links and forms.

import { announce } from "../site/dom.js";
import { openSheet } from "../site/focus.js";

class ChosenRuns extends HTMLElement {
  connectedCallback() {
    this.form = this.closest("form");
    this.form.addEventListener("change", () => this.#show());
    this.form.addEventListener("reset", () => setTimeout(() => this.#show()));
    // Rows that are fetched anew are not ticked.
    document.addEventListener("htmx:afterSwap", () => this.#show());
    this.#show();
  }

  #show() {
    const count = this.form.querySelectorAll("tbody :checked").length;
    const rest = count === 2 ? "" : count < 2 ? ". Select another to compare." : ". Two can be compared.";
    const text = `${count} selected${rest}`;
    const output = this.querySelector("output");
    if (output.textContent !== text) output.textContent = text;
    this.querySelector("[data-compare]").disabled = count !== 2;
    this.querySelector("[data-delete]").disabled = count === 0;
  }
}

customElements.define("chosen-runs", ChosenRuns);

// What is typed is searched for at once: leaving the field must not load the list again, and with it
// clear the checkbox that the click was for.
document.getElementById("history-words")?.addEventListener("change", (event) => event.stopPropagation());

const dialog = document.getElementById("deletion");
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target === dialog) openSheet(dialog);
});
document.addEventListener("htmx:responseError", () => announce("The action failed. Reload the page."));
