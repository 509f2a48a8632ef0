// Saves the request that is composed: into the saved request that is open, or as another one, and shows
// the notes of the open one. The server renders the dialogs; a response with "request:saved" names what
// was saved.

import { make } from "../site/dom.js";
import { openSheet } from "../site/focus.js";
import { activeTab, markSaved } from "./stored-tabs.js";
import { nameOf } from "./tab-model.js";
import { toast } from "../site/toasts.js";

const form = document.getElementById("composer");
const sheet = document.getElementById("save-sheet");
/** The tab that is being saved: another one may be shown when the response arrives. */
let saving;

const settings = (more) => ({ source: "#saver", target: "#save-body", swap: "innerHTML", ...more });

/** Saves into the saved request that is open; asks for a name and a collection where there is none. */
export function save(values = {}) {
  const tab = activeTab();
  if (!tab.saved) return saveAs();
  saving = tab;
  const [collection, slug] = tab.saved.split("/");
  const url = `/collections/${collection}/requests/${slug}/`;
  return window.htmx.ajax("POST", url, settings({ values }));
}

/** Asks for a name and a collection. */
export function saveAs() {
  saving = activeTab();
  const name = saving.saved ? `${nameOf(saving)} (copy)` : nameOf(saving);
  const query = new URLSearchParams({ name: name.slice(0, 120), saved: saving.saved, run: saving.run });
  return window.htmx.ajax("GET", `/saved-requests/?${query}`, settings({ source: sheet }));
}

if (sheet) {
  sheet.addEventListener("htmx:afterSettle", open);
  document.getElementById("saver").addEventListener("htmx:afterSettle", open);
  document.addEventListener("request:saved", ({ detail }) => {
    sheet.close();
    markSaved(saving, detail);
    toast("Saved.", wordsFor(detail), { level: detail.dropped.length ? "warning" : "success" });
  });
  sheet.addEventListener("click", (event) => {
    const button = event.target.closest("[data-save-with]");
    if (button) save({ [button.dataset.saveWith]: "1" });
  });
  if (location.hash === "#save") {
    history.replaceState(history.state, "", location.pathname);
    document.addEventListener("DOMContentLoaded", saveAs, { once: true });
  }
}

/** Shows the notes of the saved request that is open; an edit that was not saved is saved first. */
function showNotes() {
  const part = document.getElementById("saved-notes");
  const open = form.elements.saved.value;
  if ((part.dataset.saved ?? "") === open) return;
  const field = part.querySelector("textarea");
  if (field && field.value !== field.defaultValue)
    window.htmx.ajax("POST", notesUrl(part.dataset.saved), { values: { notes: field.value }, swap: "none" });
  part.dataset.saved = open;
  part.hidden = !open;
  // Until they are there, their line is: Send must not move away from the pointer.
  const props = { type: "button", className: "btn btn-quiet btn-small", disabled: true };
  part.replaceChildren(...(open ? [make("button", props, "Add notes")] : []));
  if (open) window.htmx.ajax("GET", `${notesUrl(open)}?in=workbench`, { target: part, swap: "outerHTML" });
}

const notesUrl = (saved) => `/collections/${saved.replace("/", "/requests/")}/notes/`;

if (form) {
  const observer = new MutationObserver(showNotes);
  observer.observe(form, { attributeFilter: ["data-tab"] });
  // A late response is about a request that is no longer open.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const isNotes = detail.target.id === "saved-notes";
    if (isNotes && !detail.pathInfo.requestPath.startsWith(notesUrl(form.elements.saved.value)))
      detail.shouldSwap = false;
  });
  document.addEventListener("DOMContentLoaded", showNotes, { once: true });
}

function open() {
  if (sheet.querySelector("#save-body").firstElementChild) openSheet(sheet);
}

function wordsFor({ name, collection, dropped }) {
  const where = `“${name}” in ${collection}`;
  if (!dropped.length) return where;
  const what = dropped.join(", ");
  return `${where}, without the credentials in ${what}. To save them, use {{name}} of a secret.`;
}
