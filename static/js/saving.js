// Keeps the request that is composed: into the saved request that is open, or as another one. The
// server writes the dialogs; an answer with "request:saved" says under which name it was saved.

import { openSheet } from "./focus.js";
import { activeTab, markSaved } from "./open-tabs.js";
import { nameOf } from "./tab-list.js";
import { toast } from "./toasts.js";

const sheet = document.getElementById("save-sheet");
/** The tab that is being saved: another one may be shown by the time that the answer comes. */
let saving;

const settings = (more) => ({ source: "#saver", target: "#save-body", swap: "innerHTML", ...more });

/** Saves into the saved request that is open; asks where to where there is none. */
export function save({ overwrite = "" } = {}) {
  const tab = activeTab();
  if (!tab.saved) return saveAs();
  saving = tab;
  const [collection, slug] = tab.saved.split("/");
  const url = `/collections/${collection}/requests/${slug}/`;
  return window.htmx.ajax("POST", url, settings({ values: { overwrite } }));
}

/** Asks for a name and a place. */
export function saveAs() {
  saving = activeTab();
  const name = saving.saved ? `${nameOf(saving)} (copy)` : nameOf(saving);
  const query = new URLSearchParams({ name: name.slice(0, 120), saved: saving.saved, run: saving.run });
  return window.htmx.ajax("GET", `/saved-requests/?${query}`, settings({ source: sheet }));
}

if (sheet) {
  // Whatever the server writes into the dialog is to be read.
  sheet.addEventListener("htmx:afterSettle", open);
  document.getElementById("saver").addEventListener("htmx:afterSettle", open);
  document.addEventListener("request:saved", ({ detail }) => {
    sheet.close();
    markSaved(saving, detail);
    toast("Saved.", wordsFor(detail), { level: detail.dropped.length ? "warning" : "success" });
  });
  sheet.addEventListener("click", (event) => {
    if (event.target.closest("[data-overwrite]")) save({ overwrite: "1" });
  });
  if (location.hash === "#save") {
    history.replaceState(history.state, "", location.pathname);
    document.addEventListener("DOMContentLoaded", saveAs, { once: true });
  }
}

function open() {
  if (sheet.querySelector("#save-body").firstElementChild) openSheet(sheet);
}

function wordsFor({ name, dropped }) {
  if (!dropped.length) return `“${name}”`;
  const what = dropped.join(", ");
  return `“${name}”, without the credentials in ${what}: these are stored as {{name}} of a secret only.`;
}
