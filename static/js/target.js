// The agent, the version and the binding in the top bar. Another agent changes where the request goes and
// nothing else; another version also changes meta.version, where that named the old one.

import { documentOf } from "./request-document.js";

function start(form) {
  const { agent, version } = form.elements;
  const request = documentOf(form);
  const control = document.querySelector("[data-target-binding]");
  let before = version.value;

  const show = () => {
    const chosen = agent.selectedOptions[0];
    control.hidden = Boolean(chosen?.value) && !("bindings" in chosen.dataset);
    agent.title = chosen?.dataset.url ?? "";
    for (const card of document.querySelectorAll("[data-for-agent]"))
      card.hidden = card.dataset.forAgent !== agent.value;
    for (const button of document.querySelectorAll("[data-choose-agent]")) {
      const isChosen = button.dataset.chooseAgent === agent.value;
      if (!isChosen) button.removeAttribute("aria-current");
      else {
        button.setAttribute("aria-current", "true");
        button.scrollIntoView({ block: "nearest" });
      }
    }
    for (const option of version.options) {
      const own = option.value === chosen?.dataset.version;
      option.text = own ? option.dataset.label : `${option.dataset.label} (not the agent’s own)`;
    }
  };
  const announceChange = () => form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));

  agent.addEventListener("change", () => {
    form.elements.binding.value = agent.selectedOptions[0]?.dataset.binding ?? "http";
    show();
    announceChange();
  });
  control.addEventListener("change", announceChange);
  version.addEventListener("change", () => {
    if (request.value(["meta", "version"]) === before)
      request.set(["meta", "version"], JSON.stringify(version.value));
    else announceChange();
    before = version.value;
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-choose-agent]");
    if (button) chooseAgent(button.dataset.chooseAgent);
  });
  show();
}

/** Chooses an agent by its slug, as if in the top bar. */
export function chooseAgent(slug) {
  const select = document.getElementById("agent-select");
  select.value = slug;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

const form = document.getElementById("composer");
if (form?.elements.agent) start(form);
