// The editor of a list of texts: one line each, added and removed.

import { textBox as box, freshId, iconButton, make } from "./dom.js";
import { parse, toValue } from "./json-text.js";

/** An editor as in value-editors.js: {element, show(raw), read()}. */
export function listEditor({ id, describedBy, label }) {
  const items = make("div", { className: "list-items" });
  const add = make("button", { type: "button", className: "btn btn-quiet btn-small" }, "Add a line");
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
      iconButton("close", "Remove the line", () => {
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
