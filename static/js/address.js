// The address of a request that goes to no agent of the list. A curl command that is pasted there
// fills the whole request; nothing of it is run.

import { putFields, readFields } from "./composed.js";
import { make } from "./dom.js";
import { changeTab } from "./open-tabs.js";

const form = document.getElementById("composer");
const field = form?.elements.address;
const note = document.getElementById("address-note");
const CURL = /^\s*\$?\s*curl\s/;

async function take(command) {
  note.replaceChildren("Reading the command…");
  try {
    const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers"));
    const body = new URLSearchParams({ command });
    const answer = await fetch(field.dataset.curl, {
      method: "POST",
      body,
      headers: { "X-CSRFToken": token },
    });
    if (!answer.ok) throw new Error(answer.statusText);
    fill(await answer.json());
  } catch {
    say("The command could not be read: the playground did not answer.", []);
  }
}

function fill({ remarks, refusals, document, headers, auth, ...way }) {
  if (refusals.length) {
    say("Nothing was taken over.", refusals);
    return;
  }
  const texts = { document, headers, auth };
  const written = Object.entries(texts).map(([name, value]) => [name, JSON.stringify(value, null, 2)]);
  changeTab({ link: undefined }); // It is the user's own now.
  putFields(form, { ...readFields(form), ...way, agent: "", ...Object.fromEntries(written) }, true);
  say("Taken over from the command.", remarks);
}

function say(sentence, list) {
  const items = list.map((each) => make("li", {}, each));
  note.replaceChildren(sentence, ...(items.length ? [make("ul", {}, ...items)] : []));
}

if (field) {
  field.addEventListener("paste", (event) => {
    // As it stands: a field of one line would lose the ends of lines.
    const text = event.clipboardData.getData("text/plain");
    if (!CURL.test(text)) return;
    event.preventDefault();
    take(text);
  });
  field.addEventListener("change", () => CURL.test(field.value) && take(field.value));
  field.addEventListener("input", () => note.replaceChildren());
  // A command begins no sending.
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    if (CURL.test(field.value)) take(field.value);
  });
  document.addEventListener("pane:show", () => note.replaceChildren());
}
