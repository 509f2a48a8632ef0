// The address of a request that goes to no agent of the list. A curl command that is pasted there
// is a request of its own: it gets a tab, unless the one that is shown holds nothing; nothing of it
// is run.

import { putFields, readFields } from "./composed.js";
import { make } from "./dom.js";
import { activeTab, changeTab, makeTab, openTab } from "./open-tabs.js";
import { fieldsBefore, isChanged } from "./tab-list.js";

const form = document.getElementById("composer");
const field = form?.elements.address;
const note = document.getElementById("address-note");
/** What a command says nothing of. */
const NOTHING = { agent: "", expectations: "", captures: "", parent: "", continues: "" };
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
  if (CURL.test(field.value)) field.value = "";
  const fields = { ...readFields(form), ...NOTHING, ...way, ...Object.fromEntries(written) };
  const isOther = place(fields);
  say(`Taken over from the command${isOther ? ", into a tab of its own" : ""}.`, remarks);
}

/** Puts a request where it displaces none; returns whether that is another tab. */
function place(fields) {
  const tab = activeTab();
  const before = fieldsBefore(tab);
  const isTaken = Boolean(tab.saved || tab.run || isChanged({ ...tab, fields: before }));
  if (isTaken) openTab(makeTab(fields, { pinned: true }));
  else putFields(form, fields, true);
  tab.fields = before; // Of the one that is shown, they are read anew.
  // It is the user's own now, and kept nowhere.
  changeTab({ base: "", link: undefined, pinned: true });
  return isTaken;
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
