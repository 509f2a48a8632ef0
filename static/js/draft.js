// What was composed outlives a reload, the way back and the edit of an agent: a draft of this
// tab, kept by the address that it was typed at. Runs before the other modules, so that they
// find the form as it was left.
//
// A run's own page keeps the edits of that run's request, and the page of its next request
// those of that one, with the turn that it continues. A link that brings a request along wins
// over a draft, unless the same page is reloaded or come back to; so does an agent that it names.

import { putContinued, readFields } from "./draft-fields.js";
import { find, set } from "./json-edit.js";
import { parse } from "./json-text.js";
import { showProtocol } from "./protocols.js";
import { forget, recall, remember } from "./storage.js";
import { toast } from "./toasts.js";
import { translated } from "./translation.js";

const SAVE_AFTER_MS = 200;
const form = document.getElementById("composer");
const query = new URLSearchParams(location.search);
const isLink = query.has("text") || query.has("request");
/** The agent that the address asks for. */
const asked = query.get("agent");
const [navigation] = performance.getEntriesByType("navigation");
const isBack = ["reload", "back_forward"].includes(navigation?.type);
const isRun = (path) => path.startsWith("/runs/");
const isNext = (path) => isRun(path) && path.endsWith("/next/");
const opened = isLink ? location.pathname + location.search : location.pathname;
const keyOf = (address) => `draft.${address}`;

let timer;
let here = opened;
/** Whether what moves the page on is this form, and not an answer in the response. */
let isSent = false;

function save() {
  clearTimeout(timer);
  if (!timer) return;
  timer = undefined;
  const draft = JSON.stringify({ ...readFields(form), asked });
  // After a send the address is the run's, while the page is still the one that was opened.
  const addresses = isRun(opened) ? [here] : [opened, here];
  for (const address of addresses) remember(keyOf(address), draft, sessionStorage);
}

function saveSoon() {
  clearTimeout(timer);
  timer = setTimeout(save, SAVE_AFTER_MS);
}

function kept() {
  if (isLink && !isBack) return null;
  try {
    return JSON.parse(recall(keyOf(opened), sessionStorage));
  } catch {
    return null;
  }
}

function restore(draft) {
  const { document: text, headers, agent, version, binding } = form.elements;
  const sent = readFields(form);
  text.value = draft.document;
  headers.value = draft.headers;
  putContinued(form, draft);
  const { protocol } = form.dataset;
  if (asked === null || (isBack && asked === draft.asked)) {
    choose(agent, draft.agent);
    if (draft.binding) binding.value = draft.binding;
    if (draft.protocol && draft.protocol !== protocol) showProtocol(form, draft.protocol, draft.version);
    else choose(version, draft.version);
  } else if (draft.protocol && draft.protocol !== protocol) {
    remember(`document.${draft.protocol}`, draft.document, sessionStorage);
    text.value = translated(draft, protocol, version.value);
  } else text.value = moved(draft, version.value);
  if (isRun(opened) && sent.document !== draft.document) offerSent();
}

function choose(select, value) {
  if ([...select.options].some((option) => option.value === value)) select.value = value;
}

/** The document of a draft for an agent of another version, which it may name in meta. */
function moved(draft, version) {
  try {
    const named = find(parse(draft.document), ["meta", "version"])?.value;
    const follows = named === draft.version && named !== version;
    return follows ? set(draft.document, ["meta", "version"], JSON.stringify(version)) : draft.document;
  } catch {
    return draft.document;
  }
}

function offerSent() {
  const discard = () => {
    clearTimeout(timer);
    timer = undefined;
    forget(keyOf(opened), sessionStorage);
    location.reload();
  };
  const [why, label] = isNext(opened)
    ? ["The request is as you left it.", "Begin it anew"]
    : ["The request is not the one that this run sent.", "Show what was sent"];
  toast("Your edits are back.", why, { action: { label, run: discard } });
}

if (form) {
  const draft = kept();
  if (draft) restore(draft);
  form.addEventListener("composer:change", saveSoon);
  form.addEventListener("composer:invalid", saveSoon);
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.matches("#composer, [data-continues]")) isSent = event.target === form;
  });
  window.addEventListener("pagehide", save);
  document.addEventListener("htmx:pushedIntoHistory", (event) => {
    save();
    // What was edited on a run's page has become the run that was sent.
    if (isRun(here) && isSent) forget(keyOf(here), sessionStorage);
    isSent = false;
    here = event.detail.path;
  });
}
