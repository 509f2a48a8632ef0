// The fields of one expectation: what stands in them, and what it says as JSON.

import { Digits, parse, stringify } from "./exact-json.js";

/** How each kind of control shows a value, and reads it. undefined: the member is not there. */
const CONTROLS = {
  text: { show: String, read: (text) => text || undefined },
  path: { show: String, read: (text) => text.trim() },
  choice: { show: String, read: (text) => text },
  flag: { show: String, read: (text) => (text === "" ? undefined : text === "true") },
  number: { show: String, read: (text) => (text.trim() === "" ? undefined : numberOf(text)) },
  words: {
    show: (value) => (Array.isArray(value) ? value.join(", ") : String(value)),
    read: (text) =>
      text
        .split(",")
        .map((word) => word.trim().toLowerCase())
        .filter(Boolean),
  },
  json: { show: showJson, read: readJson },
  whole: { show: (value) => stringify(value), read: readJson },
};

/** A value as it is typed: a text without its quotes, unless it would be read as something else. */
function showJson(value) {
  if (typeof value === "string" && readJson(value) === value) return value;
  return stringify(value);
}

/** What is typed as JSON; what is none is a text. */
function readJson(text) {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** What is typed as a number; what is none is a text, and said to be wrong. */
function numberOf(text) {
  const value = readJson(text);
  if (typeof value === "number" || value instanceof Digits) return value;
  return Number.isNaN(Number(text)) ? text : Number(text);
}

const fieldsOf = (row) => row.querySelectorAll("[data-field]");

/** Puts the members of an expectation into the fields of its row. */
export function fill(row, expectation) {
  const operator = row.querySelector("[data-operator]");
  if (operator) operator.value = operatorOf(expectation, operator);
  for (const field of fieldsOf(row)) {
    const value = field.dataset.field === "" ? expectation : expectation[field.dataset.field];
    if (value !== undefined) field.value = CONTROLS[field.dataset.control].show(value);
  }
  showOperand(row);
}

/** The expectation that a row says; members without a field stay as they are. */
export function read(row, before) {
  const whole = row.querySelector('[data-field=""]');
  if (whole) return readJson(whole.value);
  const operator = row.querySelector("[data-operator]")?.value;
  const expectation = { ...before, type: row.dataset.kind };
  for (const field of fieldsOf(row)) {
    const { field: name, control, operand } = field.dataset;
    const isAside = operand !== undefined && operand !== operator;
    const value = isAside ? undefined : CONTROLS[control].read(field.value);
    if (value === undefined) delete expectation[name];
    else expectation[name] = value;
  }
  return expectation;
}

/** What makes a path one that can select several values. */
const SEVERAL = /[*?:,]|\.\./;

/** Of the fields for what is asked of a value, only the one that is chosen is seen. */
export function showOperand(row) {
  const operator = row.querySelector("[data-operator]")?.value;
  for (const field of row.querySelectorAll("[data-operand]")) {
    field.hidden = field.dataset.operand !== operator;
  }
  const every = row.querySelector('[data-field="every"]');
  if (every)
    every.hidden =
      !every.value && !(SEVERAL.test(row.querySelector(".expect-path").value) && operator !== "exists");
}

function operatorOf(expectation, select) {
  const names = [...select.options].map((option) => option.value);
  return names.find((name) => name in expectation) ?? names[0];
}
