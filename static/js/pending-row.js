// A row of <json-rows> that is not in the document yet: it has to have a name and a value first.

import { freshId, iconButton, make, textBox } from "./dom.js";
import { convert, KINDS } from "./value-kinds.js";

const OFFERED = ["text", "number", "boolean", "list", "null", "json"];

/**
 * The row of a new `label` ("filter"). `problemOf(name)` says what is wrong with a name, ""
 * for nothing; `add(name, raw, part)` writes it down, once, and goes on in the same `part` of
 * the row that replaces this one: "name", "value" or "kind"; `dropped` hears that it was removed.
 */
export function pendingRow(label, { problemOf, add, dropped }) {
  const name = make("input", {
    className: "input mono row-name",
    placeholder: "name",
    autocomplete: "off",
    spellcheck: false,
    "aria-label": `Name of the ${label}`,
  });
  const value = textBox(
    { id: freshId("pending"), placeholder: "value" },
    { "aria-label": `Value of the ${label}` },
  );
  const kind = make("select", { className: "field-type", "aria-label": `Kind of the ${label}` });
  for (const each of OFFERED) kind.append(make("option", { value: each }, KINDS[each]));
  const error = make("p", { className: "field-error", hidden: true });
  const remove = iconButton("close", `Remove the ${label}`, () => {
    row.remove();
    dropped();
  });
  const holder = make("div", { className: "field-editor" }, value);
  const row = make("div", { className: "row" }, name, holder, kind, remove, error);

  row.addEventListener("input", (event) => {
    if (event.isComposing) return;
    const problem = name.value.trim() ? problemOf(name.value.trim()) : "";
    error.textContent = problem;
    error.hidden = !problem;
    name.setAttribute("aria-invalid", String(Boolean(problem)));
    const isReady = name.value.trim() && (value.value || kind.value !== "text");
    if (!isReady || problem) return;
    const part = { [name.className]: "name", [kind.className]: "kind" }[event.target.className] ?? "value";
    row.remove();
    add(name.value.trim(), convert(JSON.stringify(value.value), kind.value), part);
  });
  row.addEventListener("compositionend", (event) =>
    event.target.dispatchEvent(new Event("input", { bubbles: true })),
  );
  return row;
}
