// What the server finds wrong with a request, shown at the fields that it is about. A problem that a
// field shows is not shown a second time in a list.

import { keysOf } from "./json-pointer.js";
import { messageOf, problemItems } from "./problem-items.js";
import { documentOf } from "./request-document.js";

/** The messages that the fields show. */
let shown = new Map();

/** The field that shows the member a pointer leads to, or the nearest one above it. */
function fieldAt(pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/"))) {
    const field = document.querySelector(`json-field[data-pointer="${CSS.escape(at)}"]`);
    if (field) return field;
  }
  return null;
}

function headerField() {
  return document.querySelector("#tab-headers :is(.row input, [data-add])");
}

const isRefusal = (item) => Boolean(item.closest("#compose-problems"));

/** Whether a problem only says that a text is empty which nobody has typed into, or is typing into. */
function isPremature(item, field) {
  const { pointer } = item.dataset;
  if (isRefusal(item) || !pointer.startsWith("/")) return false;
  const request = documentOf(document.getElementById("composer"));
  const isEmpty = request.value(keysOf(pointer)) === "";
  return isEmpty && (!field?.isEdited || field.matches(":focus-within"));
}

function spread() {
  const before = shown;
  shown = new Map();
  const items = problemItems().filter((item) => {
    const field = fieldAt(item.dataset.pointer);
    const isCalm = isPremature(item, field);
    item.toggleAttribute("data-calm", isCalm);
    item.toggleAttribute("data-at-field", !isCalm && Boolean(field) && show(item, field));
    return !isCalm;
  });
  for (const [field, message] of before) {
    if (!shown.has(field) && field.problem === message) field.complain("");
  }
  for (const tab of document.querySelectorAll("#composer [data-section]")) count(tab, items);
}

/** Shows a problem at its field, and returns whether it is shown there. */
function show(item, field) {
  const message = messageOf(item);
  if (shown.has(field)) return shown.get(field) === message;
  // A member that is not set has no field to show it at, before a send was refused for it.
  if (!field.isSet && !isRefusal(item)) return false;
  field.open();
  shown.set(field, message);
  const fix = [...item.querySelectorAll("[data-define]")].map((button) => button.cloneNode(true));
  field.complain(message, item.dataset.level, ...fix);
  return true;
}

function count(tab, items) {
  const { section } = tab.dataset;
  const isIn = ({ dataset }) => section && dataset.pointer.startsWith(section);
  // What the last send was refused for is in the effective request, too.
  const found = new Set(items.filter(isIn).map((item) => item.dataset.pointer + item.textContent)).size;
  if (found) tab.dataset.problems = found;
  else delete tab.dataset.problems;
}

function go(pointer) {
  const field = pointer.startsWith("#headers") ? headerField() : fieldAt(pointer);
  const tabs = [...document.querySelectorAll("#composer [data-section]:not([data-section=''])")];
  const panel =
    field || !pointer.startsWith("/")
      ? tabs.find(({ dataset }) => pointer.startsWith(dataset.section))?.getAttribute("aria-controls")
      : "tab-json";
  document.querySelector("#composer tab-set").show(panel ?? "tab-json");
  field?.open?.();
  field?.focus();
}

document.addEventListener("htmx:afterSwap", (event) => {
  const { target } = event.detail;
  if (target.id === "effective")
    target.closest("request-composer").toggleAttribute("data-stale", Boolean(documentOf(target).obstacle));
  if (["effective", "compose-problems"].includes(target.id)) spread();
});
document.addEventListener("composer:invalid", spread);
document.addEventListener("focusout", (event) => {
  if (event.target.closest("json-field")) requestAnimationFrame(spread);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (link) go(link.dataset.go);
});
