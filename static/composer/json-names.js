// The names of members in a JSON text: where they are, and the JSON pointer of each.

import { keysOf, pointerOf } from "./json-pointer.js";
import { parse } from "./json-text.js";

/** Longer texts are not read: the pointer that moves over them would wait. */
const MAX_LENGTH = 400_000;

/**
 * The names in a JSON text in order: {pointer, start, end}, without the quotes; `base` is the pointer
 * of the text itself. None for a text that is not valid JSON, or too long.
 */
export function namesIn(text, base = "") {
  if (text.length > MAX_LENGTH) return [];
  let root;
  try {
    root = parse(text);
  } catch {
    return []; // cut off, or with variables in it: the text is shown without explanations
  }
  const names = [];
  const visit = (node, keys) => {
    for (const { key, start, keyEnd, value } of node.members ?? []) {
      const path = [...keys, key];
      names.push({ pointer: pointerOf(path), start: start + 1, end: keyEnd - 1 });
      visit(value, path);
    }
    for (const [index, item] of (node.items ?? []).entries()) visit(item, [...keys, index]);
  };
  visit(root, keysOf(base));
  return names;
}

/** The index of the name at an offset, quotes included; -1 for none. `names` is from `namesIn`. */
export function indexAt(names, offset) {
  let [low, high] = [0, names.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const { start, end } = names[middle];
    if (offset < start - 1) high = middle - 1;
    else if (offset > end) low = middle + 1;
    else return middle;
  }
  return -1;
}
