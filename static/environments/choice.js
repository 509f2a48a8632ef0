// The environment of the top bar: its values in a popover, and the creation of a variable that a
// request lacks.

import { make, placeMenu } from "../site/dom.js";
import { openSheet } from "../site/focus.js";
import { typedSecrets } from "../site/typed-secrets.js";

const select = document.getElementById("environment-select");
const sheet = document.getElementById("variable-sheet");

/** Shows the values of the environment that is chosen. */
function showValues(popover) {
  placeMenu(popover, document.querySelector(`[popovertarget="${popover.id}"]`));
  const url = `${popover.dataset.url}?environment=${encodeURIComponent(select.value)}`;
  window.htmx.ajax("GET", url, { source: popover, target: popover, swap: "innerHTML" });
}

/** Asks for the value of a variable that is not defined. */
function define(name) {
  const { agent, address } = select.form.elements;
  const url = agent.selectedOptions?.[0]?.dataset.url || address.value;
  const query = new URLSearchParams({ name, environment: select.value, url });
  const body = sheet.querySelector("#variable-sheet-body");
  window.htmx.ajax("GET", `${sheet.dataset.url}?${query}`, {
    source: sheet,
    target: body,
    swap: "innerHTML",
  });
}

/** Chooses the environment that has a new variable, and adds it where it is new itself. */
function choose({ slug, name }) {
  if (![...select.options].some(({ value }) => value === slug))
    select.append(make("option", { value: slug }, name));
  select.value = slug;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

if (select) {
  const popover = document.getElementById("environment-values");
  popover.addEventListener("toggle", ({ newState }) => newState === "open" && showValues(popover));
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-define]");
    if (button) define(button.dataset.define);
  });
  sheet.addEventListener("htmx:afterSettle", () => {
    openSheet(sheet);
    sheet.querySelector('[aria-invalid="true"]')?.focus();
  });
  sheet.addEventListener("change", ({ target }) => {
    const { environment, secret, value } = target.form.elements;
    sheet.querySelector("[data-new-environment]").hidden = Boolean(environment?.value);
    sheet.querySelector("[data-allowed-origins]").hidden = !secret.checked;
    value.type = secret.checked ? "password" : "text";
  });
  typedSecrets(sheet);
  document.addEventListener("environment:change", ({ detail }) => {
    sheet.close();
    choose(detail);
  });
}
