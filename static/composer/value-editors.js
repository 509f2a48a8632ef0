// One editor per kind of JSON value. An editor is {element, show(raw), read()}: `raw` is JSON
// text; `read` returns JSON text, or throws an error whose message says what to correct.
// Every editor's element emits "input" when its value changes.

import { textBox as box, freshId, iconButton, make } from "../site/dom.js";
import { parse, toValue } from "./json-text.js";

/** Makes the editor of a kind; `options` are {id, label, describedBy, list, placeholder}. */
export function makeEditor(kind, options) {
  return {
    text: textEditor,
    number: numberEditor,
    boolean: booleanEditor,
    list: listEditor,
    null: nullEditor,
    json: jsonEditor,
  }[kind](options);
}

function put(control, value) {
  if (control.value !== value) control.value = value;
}

function textEditor(options) {
  const { id, describedBy, list, placeholder = "" } = options;
  // A text of several lines needs a textarea, suggestions need an input.
  const element = list
    ? make("input", {
        id,
        className: "input",
        autocomplete: "off",
        spellcheck: false,
        placeholder,
        "aria-describedby": describedBy,
      })
    : box(options);
  if (list) element.setAttribute("list", list);
  return {
    element,
    show: (raw) => put(element, toValue(parse(raw))),
    read: () => JSON.stringify(element.value),
  };
}

function numberEditor(options) {
  const element = make("input", {
    id: options.id,
    className: "input mono",
    inputMode: "decimal",
    autocomplete: "off",
    "aria-describedby": options.describedBy,
  });
  const read = () => {
    const text = element.value.trim();
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text))
      throw new Error(text ? `“${text}” is not a number` : "Enter a number");
    return text;
  };
  return { element, show: (raw) => put(element, raw), read };
}

function booleanEditor({ id, describedBy, label }) {
  const name = freshId("choice");
  const choice = (value) =>
    make("label", { className: "segment" }, make("input", { type: "radio", name, value }), value);
  const element = make(
    "div",
    { id, className: "segments", role: "radiogroup", "aria-label": label },
    choice("true"),
    choice("false"),
  );
  const inputs = [...element.querySelectorAll("input")];
  for (const input of inputs) {
    input.setAttribute("form", "none"); // a view of the document, not a field of the form
    input.setAttribute("aria-describedby", describedBy);
  }
  return {
    element,
    show: (raw) => {
      for (const input of inputs) input.checked = input.value === raw;
    },
    read: () => String(inputs[0].checked),
  };
}

function nullEditor({ id }) {
  const element = make("output", { id, className: "null-value" }, "null");
  return { element, show: () => undefined, read: () => "null" };
}

function jsonEditor(options) {
  const element = box(options, { className: "input input-grow mono" });
  const same = (raw) => {
    try {
      return JSON.stringify(toValue(parse(element.value))) === JSON.stringify(toValue(parse(raw)));
    } catch {
      return false;
    }
  };
  const read = () => {
    try {
      parse(element.value);
    } catch (error) {
      throw new Error(error.sentence, { cause: error });
    }
    return element.value.trim();
  };
  return { element, show: (raw) => same(raw) || put(element, raw), read };
}

/** A list of texts: one line each, added and removed. */
function listEditor({ id, describedBy, label }) {
  const items = make("div", { className: "list-items" });
  const add = make("button", { type: "button", className: "btn btn-quiet btn-small" }, "Add line");
  const element = make("div", { className: "list-editor" }, items, add);
  const changed = () => element.dispatchEvent(new Event("input", { bubbles: true }));
  const boxes = () => [...items.querySelectorAll("textarea")];
  const addRow = (value) => {
    const first = !items.children.length;
    const area = box(
      { id: first ? id : freshId("line"), describedBy },
      { value, "aria-label": `${label}, one line` },
    );
    const row = make(
      "div",
      { className: "list-row" },
      area,
      iconButton("close", "Remove line", () => {
        row.remove();
        changed();
      }),
    );
    items.append(row);
    return area;
  };
  add.addEventListener("click", () => {
    addRow("").focus();
    changed();
  });
  addRow("");
  return {
    element,
    show: (raw) => {
      const values = toValue(parse(raw));
      const now = boxes();
      if (JSON.stringify(now.map((each) => each.value)) === JSON.stringify(values)) return;
      items.replaceChildren();
      for (const value of values) addRow(value);
    },
    read: () =>
      JSON.stringify(
        boxes().map((each) => each.value),
        null,
        2,
      ),
  };
}
