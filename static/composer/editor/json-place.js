// Where something is in the document of the editor, also while that is incomplete: the keys of a place,
// and a tree as static/composer/json-text.js reads it.

import { syntaxTree } from "@codemirror/language";

const TYPES = { Object: "object", Array: "array", String: "string", Number: "number", Null: "null" };
const VALUES = new Set([...Object.keys(TYPES), "True", "False"]);

const isValue = ({ name }) => VALUES.has(name);

/** The keys of the value that a node of the syntax tree is, or is the name of. */
export function keysOfNode(node, state) {
  const keys = [];
  for (let at = node; at; at = at.parent) {
    if (at.name === "Property") keys.unshift(nameOf(at, state));
    else if (at.parent?.name === "Array" && isValue(at)) keys.unshift(String(indexOf(at)));
  }
  return keys;
}

/** The name of a property; "" while there is none. */
export function nameOf(property, state) {
  const name = property.getChild("PropertyName");
  return name ? String(parsed(state.sliceDoc(name.from, name.to)) ?? "") : "";
}

/** The number of items of an array before a position. */
export function lengthOf(array, position) {
  return valuesIn(array).filter(({ to }) => to <= position).length;
}

/** The name at a position: {keys, from, to}, null for none. */
export function nameAt(state, position) {
  const tree = syntaxTree(state);
  for (const side of [1, -1]) {
    const node = tree.resolveInner(position, side);
    if (node.name === "PropertyName") return { keys: keysOfNode(node, state), from: node.from, to: node.to };
  }
  return null;
}

/** The name of the member around a position, else the first name of the document; null for none. */
export function nameNear(state, position) {
  const tree = syntaxTree(state);
  for (let at = tree.resolveInner(position, 1); at; at = at.parent)
    if (at.name === "Property") return nameAt(state, at.from + 1);
  let first = null;
  tree.iterate({ enter: (node) => void (first ??= node.name === "PropertyName" ? node.from : null) });
  return first === null ? null : nameAt(state, first + 1);
}

/** The document as a tree, as far as it is complete; undefined for none. */
export function treeOf(state) {
  const node = valuesIn(syntaxTree(state).topNode)[0];
  return node && convert(node, state, 0);
}

function convert(node, state, depth) {
  const type = TYPES[node.name] ?? "boolean";
  const place = { type, start: node.from, end: node.to };
  if (depth > 100) return { ...place, members: [], items: [] };
  if (type === "array")
    return { ...place, items: valuesIn(node).map((item) => convert(item, state, depth + 1)) };
  if (type !== "object") return { ...place, value: parsed(state.sliceDoc(node.from, node.to)) };
  const members = node.getChildren("Property").flatMap((property) => {
    const [value] = valuesIn(property);
    const key = nameOf(property, state);
    return value ? [{ key, value: convert(value, state, depth + 1) }] : [];
  });
  return { ...place, members };
}

function valuesIn(node) {
  const found = [];
  for (let at = node.firstChild; at; at = at.nextSibling) if (isValue(at)) found.push(at);
  return found;
}

function indexOf(node) {
  let index = 0;
  for (let at = node.prevSibling; at; at = at.prevSibling) if (isValue(at)) index += 1;
  return index;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not complete yet
  }
}
