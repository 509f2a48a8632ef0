// Controls of an entry of a list, each a view of one member of the request.

import { make } from "./dom.js";
import { pointerOf } from "./json-pointer.js";

/** The member of an object node. */
export const member = (node, key) => node?.members?.findLast((each) => each.key === key)?.value;
/** A member that is a text, undefined for anything else. */
export const textAt = (node, key) => {
  const found = member(node, key);
  return found?.type === "string" ? found.value : undefined;
};

/** A field of the request, made like those of the form. */
export function field(label, keys, { types, placeholder = "", className = "" }) {
  const made = make(
    "json-field",
    { className: `field ${className}` },
    make("label", { className: "field-label" }, label),
    make("div", { className: "field-editor" }),
    make("select", { className: "field-type", "aria-label": `${label}: kind of value` }),
    make("p", { className: "field-error", hidden: true }),
  );
  Object.assign(made.dataset, { pointer: pointerOf(keys), types, required: "", placeholder });
  return made;
}

/** One of several values that can be chosen, the present one among them. */
export function choice(label, keys, value, offered, request) {
  const names = [...new Set([...offered, value ?? offered[0]])];
  const select = make(
    "select",
    { className: "select select--quiet", "aria-label": label },
    ...names.map((name) => make("option", { value: name, selected: name === value }, name)),
  );
  select.addEventListener("change", () => {
    request.set(keys, JSON.stringify(select.value));
    const entry = document.querySelector(`[data-choice="${select.dataset.choice}"]`);
    entry?.focus();
  });
  select.dataset.choice = pointerOf(keys);
  return select;
}
