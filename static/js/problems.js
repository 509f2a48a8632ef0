// What the server says is wrong with a request, brought to the fields that it is about.

import { documentOf } from "./request-document.js";

const LISTS = "request-composer:not([data-stale]) #effective .problem-item, #compose-problems .problem-item";

/** What the fields were told last. */
let told = new Map();

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

/** Whether a problem only says that something is empty which somebody is about to fill in. */
function isPremature(item, field) {
  return field?.raw === '""' && field.matches(":focus-within") && !item.closest("#compose-problems");
}

function spread() {
  const before = told;
  told = new Map();
  const items = [...document.querySelectorAll(LISTS)].filter((item) => {
    const field = fieldAt(item.dataset.pointer);
    const isCalm = isPremature(item, field);
    item.toggleAttribute("data-calm", isCalm);
    if (!isCalm && field) tell(item, field);
    return !isCalm;
  });
  for (const [field, message] of before) {
    if (!told.has(field) && field.error.textContent === message) field.complain("");
  }
  for (const tab of document.querySelectorAll("#composer [data-section]")) count(tab, items);
}

function tell(item, field) {
  // A field that nobody has touched is not scolded for being empty.
  const isUntouched = field.dataset.kind === "unset" && !item.closest("#compose-problems");
  if (isUntouched || told.has(field)) return;
  const message = item.querySelector("span").textContent;
  told.set(field, message);
  field.complain(message, item.dataset.level);
}

function count(tab, items) {
  const { section } = tab.dataset;
  const places = section.split(" ").filter(Boolean);
  const isIn = ({ dataset }) => places.some((place) => dataset.pointer.startsWith(place));
  // What kept the last send back says again what is wrong with the request as it stands.
  const found = new Set(items.filter(isIn).map((item) => item.dataset.pointer + item.innerText)).size;
  if (found) tab.dataset.problems = found;
  else delete tab.dataset.problems;
}

/** The panel of the section that a pointer leads into. */
function panelAt(pointer) {
  const tabs = [...document.querySelectorAll("#composer [data-section]:not([hidden])")];
  const has = ({ dataset }) => dataset.section.split(" ").some((place) => place && pointer.startsWith(place));
  return tabs.find(has)?.getAttribute("aria-controls");
}

function go(pointer) {
  const field = pointer.startsWith("#headers") ? headerField() : fieldAt(pointer);
  const panel = field?.closest('[role="tabpanel"]')?.id ?? panelAt(pointer) ?? "tab-json";
  document.querySelector("#composer tab-set").show(panel);
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
