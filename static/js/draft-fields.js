// What a draft holds of the composer: its fields, and which turn it continues.

export function readFields(form) {
  const { document: text, headers, agent, version, binding, parent } = form.elements;
  return {
    document: text.value,
    headers: headers.value,
    agent: agent.value,
    version: version.value,
    binding: binding.value,
    protocol: form.dataset.protocol,
    parent: parent.value,
    continues: textOf(form).textContent,
  };
}

/** What a draft continues: it says so itself, whatever the page would. */
export function putContinued(form, { parent = "", continues = "" }) {
  form.elements.parent.value = parent;
  textOf(form).textContent = continues;
  form.querySelector("conversation-strip").hidden = !parent;
}

function textOf(form) {
  return form.querySelector("[data-continues-text]");
}
