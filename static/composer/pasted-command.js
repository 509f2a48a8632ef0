// A cURL command that is pasted as the target is a request of its own: it gets a tab, unless the
// one that is shown holds nothing. The command is not run.

import { putFields, readFields } from "./composer-fields.js";
import { make } from "../site/dom.js";
import { activeTab, changeTab, makeTab, openTab } from "./stored-tabs.js";
import { isChanged } from "./tab-model.js";
import { isCommand } from "./target-url.js";

const form = document.getElementById("composer");
const field = document.getElementById("target-input");
const note = document.getElementById("address-note");
/** What a command says nothing of. */
const NOTHING = { agent: "", detected: "", expectations: "", captures: "", parent: "", continues: "" };

async function take(command) {
  note.replaceChildren("Importing the cURL command…");
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
    say("The command was not imported: the playground did not respond.", []);
  }
}

function fill({ remarks, refusals, document, headers, auth, ...way }) {
  if (refusals.length) {
    say("The command was not imported.", refusals);
    return;
  }
  const texts = { document, headers, auth };
  const written = Object.entries(texts).map(([name, value]) => [name, JSON.stringify(value, null, 2)]);
  const fields = { ...readFields(form), ...NOTHING, ...way, ...Object.fromEntries(written) };
  const isOther = place(fields);
  say(`Imported from cURL${isOther ? " into a new tab" : ""}.`, remarks);
}

/** Puts a request where it displaces none; returns whether that is another tab. */
function place(fields) {
  const tab = activeTab();
  const isTaken = Boolean(tab.saved || tab.run || isChanged(tab));
  if (isTaken) openTab(makeTab(fields, { pinned: true }));
  else putFields(form, fields, true);
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
    // As pasted: a field of one line would lose the line breaks.
    const text = event.clipboardData.getData("text/plain");
    if (!isCommand(text)) return;
    event.preventDefault();
    take(text);
  });
  // Before the bar's own listener, to which a command is no URL.
  field.parentElement.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || !isCommand(field.value)) return;
      event.preventDefault();
      event.stopPropagation();
      take(field.value);
    },
    { capture: true },
  );
  field.addEventListener("change", () => isCommand(field.value) && take(field.value));
  document.addEventListener("pane:show", () => note.replaceChildren());
}
