// Completion of the names and values that the schema of the request has.

import { syntaxTree } from "@codemirror/language";
import { keysOfNode, lengthOf, nameOf, treeOf } from "./json-place.js";
import { namesAt, valuesAt } from "./json-schema.js";

/** Characters of a value in the list. */
const MAX_LABEL = 60;
const WORD = /[@\w./-]*/;
const MAX_BOOST = 40;
/** White space that is looked through for what is before a word. */
const MAX_GAP = 500;

/** A completion source for requests; `schema` returns a promise of the schema, null for none. */
export function completionOf(schema) {
  return async (context) => {
    const { state, pos, explicit } = context;
    const word = context.matchBefore(WORD);
    const from = word?.from ?? pos;
    const isQuoted = state.sliceDoc(from - 1, from) === '"';
    if (!explicit && from === pos && !isQuoted) return null;
    const place = placeAt(state, isQuoted ? from - 1 : from);
    if (!place) return null;
    const root = await schema();
    if (!root || context.aborted) return null;
    const options = place.object ? names(root, place.object, state, pos) : values(root, place.keys, state);
    return options.length ? { from, options, validFor: WORD } : null;
  };
}

/** What may be at a position: a name in an object, or the value with these keys; null for neither. */
function placeAt(state, position) {
  const before = state.sliceDoc(Math.max(0, position - MAX_GAP), position).trimEnd();
  const end = position - (Math.min(position, MAX_GAP) - before.length);
  const mark = before.at(-1);
  if (mark === undefined) return { keys: [] };
  if (!":,{[".includes(mark)) return null;
  let node = syntaxTree(state).resolveInner(end, -1);
  const wanted = mark === ":" ? ["Property"] : ["Object", "Array"];
  while (node && !wanted.includes(node.name)) node = node.parent;
  if (!node) return null;
  if (node.name === "Object") return { object: node };
  const keys = keysOfNode(node, state);
  return { keys: node.name === "Array" ? [...keys, String(lengthOf(node, end))] : keys };
}

function names(root, object, state, pos) {
  const keys = keysOfNode(object, state);
  const written = object
    .getChildren("Property")
    .filter(({ from, to }) => pos < from || pos > to)
    .map((each) => nameOf(each, state));
  return namesAt(root, keys, treeOf(state))
    .filter(({ name }) => !written.includes(name))
    .map(({ name, text, isRequired }, index) => ({
      label: name,
      apply: insert(JSON.stringify(name), true),
      type: "property",
      detail: isRequired ? "required" : undefined,
      info: text || undefined,
      // In the order of the schema; what is required comes first.
      boost: (isRequired ? MAX_BOOST : 0) - Math.min(index, MAX_BOOST),
    }));
}

function values(root, keys, state) {
  return valuesAt(root, keys, treeOf(state)).map(({ value, text, isExample }, index) => {
    const raw = JSON.stringify(value);
    return {
      label: typeof value === "string" ? value : raw,
      displayLabel: raw.length > MAX_LABEL ? `${raw.slice(0, MAX_LABEL)}…` : raw,
      apply: insert(JSON.stringify(value, null, 2), false),
      type: "constant",
      detail: isExample ? "example" : undefined,
      info: text || undefined,
      boost: -Math.min(index, MAX_BOOST),
    };
  });
}

/** Writes `raw` over what is typed, with the quotes around it; after a name, a colon if there is none. */
function insert(raw, isName) {
  return (view, completion, from, to) => {
    const { state } = view;
    const start = state.sliceDoc(from - 1, from) === '"' ? from - 1 : from;
    const rest = state.sliceDoc(to, to + MAX_GAP);
    const end = to + (/^[^"\n\\]*"/.test(rest) && start < from ? rest.indexOf('"') + 1 : 0);
    const hasColon = /^\s*:/.test(state.sliceDoc(end, end + MAX_GAP));
    const written = isName && !hasColon ? `${raw}: ` : raw;
    view.dispatch({
      changes: { from: start, to: end, insert: written },
      selection: { anchor: start + written.length },
      scrollIntoView: true,
      userEvent: "input.complete",
    });
  };
}
