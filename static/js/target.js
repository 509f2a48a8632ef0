// The agent, the version and the binding in the top bar. Another agent changes where the request goes and
// nothing else, unless it speaks another protocol: then the request of that protocol takes the
// place of this one, which is kept. Another version also changes meta.version, where that named
// the old one. Without an agent the request goes to the address above the composer.

import { showProtocol } from "./protocols.js";
import { documentOf } from "./request-document.js";
import { recall, remember } from "./storage.js";
import { translated, versioned } from "./translation.js";

function start(form) {
  const { agent, version } = form.elements;
  const request = documentOf(form);
  const control = document.querySelector("[data-target-binding]");
  let before = version.value;

  const field = form.querySelector("[data-address]");

  const show = () => {
    const chosen = agent.selectedOptions[0];
    field.hidden = Boolean(agent.value);
    control.hidden = agent.value ? !("bindings" in chosen.dataset) : form.dataset.protocol !== "nlweb";
    agent.title = chosen?.dataset.url ?? "";
    showOrigin(agent.value ? chosen.dataset.url : form.elements.address.value);
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
      const own = option.disabled || !agent.value || option.value === chosen.dataset.version;
      option.text = own ? option.dataset.label : `${option.dataset.label} (not the agent’s own)`;
    }
  };
  const announceChange = () => form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));

  const speak = (protocol, own) => {
    const isOther = protocol !== form.dataset.protocol;
    if (isOther) request.write(exchange(form, protocol, own));
    before = version.value;
    show();
    if (!isOther) announceChange();
  };
  agent.addEventListener("change", () => {
    const { binding, protocol, version: own } = agent.selectedOptions[0].dataset;
    // An address speaks what the agent before it spoke, until something else is said.
    if (!agent.value) form.elements.protocol.value = form.dataset.protocol;
    else form.elements.binding.value = binding;
    speak(protocol ?? form.dataset.protocol, own);
    if (!agent.value) form.elements.address.focus();
  });
  form.elements.protocol.addEventListener("change", ({ target }) => {
    form.elements.binding.value = "http";
    speak(target.value);
  });
  form.elements.address.addEventListener("input", ({ target }) => {
    showOrigin(target.value);
    announceChange();
  });
  form.addEventListener("composer:load", () => {
    before = version.value;
    show();
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

/** Says at the button, and where a link brought the request, whom it would reach. */
function showOrigin(address) {
  const { origin: parsed = "" } = URL.canParse(address) ? new URL(address) : {};
  // Of an address that no request can go to ("data:…") the origin is the word "null".
  const origin = parsed && parsed !== "null" ? parsed : address.split("/")[0];
  for (const place of document.querySelectorAll("[data-origin]")) place.textContent = origin || "nowhere yet";
}

/** Puts the request away and shows the composer of another protocol; returns its request. */
function exchange(form, protocol, version) {
  const { document: area, version: select } = form.elements;
  const old = { protocol: form.dataset.protocol, document: area.value };
  const key = (name) => `document.${form.dataset.tab}.${name}`;
  remember(key(old.protocol), area.value, sessionStorage);
  showProtocol(form, protocol, version);
  const kept = recall(key(protocol), sessionStorage);
  return kept === null ? translated(old, protocol, select.value) : versioned(kept, select.value);
}

/** Chooses an agent by its slug, as if in the top bar. */
export function chooseAgent(slug) {
  const select = document.getElementById("agent-select");
  select.value = slug;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

const form = document.getElementById("composer");
if (form?.elements.agent) start(form);
