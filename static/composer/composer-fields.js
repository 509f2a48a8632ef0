// What a tab holds of the composer: every field of the form, as text, and which turn it continues.

import { documentOf } from "./request-document.js";
import { showProtocol } from "./protocols.js";

/** Fields whose text is taken as it is. */
const PLAIN = ["address", "detected", "auth", "expectations", "captures", "headers"];

export function readFields(form) {
  const { document: text, agent, version, binding, parent } = form.elements;
  return {
    ...Object.fromEntries(PLAIN.map((name) => [name, form.elements[name].value])),
    document: text.value,
    agent: agent.value,
    version: version.value,
    binding: binding.value,
    protocol: form.dataset.protocol,
    parent: parent.value,
    continues: continuesOf(form).textContent,
  };
}

/**
 * Puts fields into the form. `live` once the elements have started, which then hear of it: the
 * document's views by its "change", everything else by "composer:load" on the form.
 */
export function putFields(form, fields, live) {
  const { elements } = form;
  for (const name of PLAIN) elements[name].value = fields[name] ?? "";
  const hasAgent = [...elements.agent.options].some(({ value }) => value === fields.agent);
  elements.agent.value = hasAgent ? fields.agent : "";
  elements.binding.value = fields.binding || "http";
  elements.protocol.value = fields.protocol;
  showProtocol(form, fields.protocol, fields.version);
  elements.parent.value = fields.parent ?? "";
  continuesOf(form).textContent = fields.continues ?? "";
  if (!live) {
    elements.document.value = fields.document;
    return;
  }
  documentOf(form).load(fields.document);
  form.dispatchEvent(new CustomEvent("composer:load", { bubbles: true }));
}

function continuesOf(form) {
  return form.querySelector("[data-continues-text]");
}
