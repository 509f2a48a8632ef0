// <environment-table>: rows are added, a secret's value is typed unseen and shown on request. What was
// typed stays when the server finds a mistake.

import { typedSecrets } from "../site/typed-secrets.js";

const SHOWN_FOR = 15_000;

class EnvironmentTable extends HTMLElement {
  connectedCallback() {
    this.rows = this.querySelector("[data-rows]");
    this.total = this.querySelector('[name$="-TOTAL_FORMS"]');
    const add = this.querySelector("[data-add]");
    add.hidden = false;
    add.addEventListener("click", () => this.#add());
    this.addEventListener("change", (event) => this.#changed(event.target));
    this.addEventListener("click", (event) => {
      const button = event.target.closest("[data-reveal]");
      if (button) this.#toggle(button);
    });
  }

  #add() {
    const row = this.querySelector("[data-blank]").content.cloneNode(true);
    for (const element of row.querySelectorAll("*"))
      for (const { name, value } of [...element.attributes])
        element.setAttribute(name, value.replaceAll("__prefix__", this.total.value));
    this.rows.append(row);
    this.total.value = Number(this.total.value) + 1;
    this.rows.lastElementChild.querySelector("input:not([type=hidden])").focus();
  }

  #changed(target) {
    const row = target.closest("[data-variable]");
    if (target.matches("[data-kind-select]")) showKind(row, target.value);
    if (target.matches("[data-delete]")) row.toggleAttribute("data-deleted", target.checked);
  }

  async #toggle(button) {
    if (button.getAttribute("aria-pressed") === "true") {
      hide(button);
      return;
    }
    const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers"));
    const answer = await fetch(button.dataset.reveal, {
      method: "POST",
      headers: { "X-CSRFToken": token },
      cache: "no-store",
    });
    if (!answer.ok) return;
    const { value } = await answer.json();
    show(button, value);
    setTimeout(() => hide(button), SHOWN_FOR);
  }
}

function showKind(row, kind) {
  row.dataset.kind = kind;
  const secret = kind === "secret";
  row.querySelector("[data-origins]").hidden = !secret;
  row.querySelector("[data-value]").type = secret ? "password" : "text";
}

/** The value stands beside its field and never in it: what is saved is only what was typed. */
function show(button, value) {
  const shown = document.createElement("output");
  shown.className = "variable-revealed mono";
  shown.textContent = value;
  button.closest(".variable-input").after(shown);
  mark(button, true);
}

function hide(button) {
  button.closest(".variable-value").querySelector(".variable-revealed")?.remove();
  mark(button, false);
}

function mark(button, pressed) {
  button.setAttribute("aria-pressed", String(pressed));
  button.textContent = pressed ? "Hide" : "Reveal";
}

typedSecrets(document);
document.addEventListener("htmx:afterSettle", () =>
  document.querySelector('environment-table [aria-invalid="true"]')?.focus(),
);

customElements.define("environment-table", EnvironmentTable);
