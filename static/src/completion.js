// Completion of the names and values that the schema of the request has.

import { syntaxTree } from "@codemirror/language";
import { keysOfNode, nameOf, treeOf } from "./json-place.js";
import { namesAt, valuesAt } from "./json-schema.js";

/** Characters of a value in the list. */
const MAX_LABEL = 60;

/** A completion source for requests; `schema` returns a promise of the schema, null for none. */
export function completionOf(schema) {
  return async (context) => {
    const { state, pos } = context;
    const node = syntaxTree(state).resolveInner(pos, -1);
    const word = context.matchBefore(/"?[@\w./-]*/);
    if (!context.explicit && (!word || word.from === word.to)) return null;
    const root = await schema();
    if (!root || context.aborted) return null;
    // Brackets are closed while they are typed: the quote after the cursor belongs to the word.
    const isQuoted = state.sliceDoc(word.from, word.from + 1) === '"';
    const to = isQuoted && state.sliceDoc(pos, pos + 1) === '"' ? pos + 1 : pos;
    const options = isName(node) ? names(root, node, state, to) : values(root, node, state);
    return options.length ? { from: word.from, to, options, validFor: /^"?[@\w./-]*"?$/ } : null;
  };
}

const isName = (node) =>
  node.name === "PropertyName" || node.name === "Object" || node.parent?.name === "Object";

function names(root, node, state, to) {
  const property = node.name === "PropertyName" ? node.parent : node;
  const owner = property.name === "Property" ? property.parent : property;
  const object = owner.name === "Object" ? owner : owner.parent;
  const own = property.name === "Property" ? nameOf(property, state) : null;
  const written = object.getChildren("Property").map((each) => nameOf(each, state));
  const found = namesAt(root, keysOfNode(object, state), treeOf(state));
  const hasColon = /^\s*:/.test(state.sliceDoc(to, to + 20));
  return found
    .filter(({ name }) => name === own || !written.includes(name))
    .map(({ name, text, isRequired }) => ({
      label: JSON.stringify(name),
      apply: `${JSON.stringify(name)}${hasColon ? "" : ": "}`,
      type: "property",
      detail: isRequired ? "required" : undefined,
      info: text || undefined,
      boost: isRequired ? 1 : 0,
    }));
}

function values(root, node, state) {
  return valuesAt(root, keysOfNode(node, state), treeOf(state)).map(({ value, text, isExample }) => {
    const raw = JSON.stringify(value);
    const isLong = raw.length > MAX_LABEL;
    return {
      label: isLong ? `${raw.slice(0, MAX_LABEL)}…` : raw,
      apply: isLong ? JSON.stringify(value, null, 2) : raw,
      type: "constant",
      detail: isExample ? "example" : undefined,
      info: text || undefined,
      boost: isExample ? -1 : 0,
    };
  });
}
