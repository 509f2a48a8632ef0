// JSON whose numbers keep their digits. JavaScript writes 9007199254740993 as ...992 and 1.0 as 1;
// ids that long are what agents have, and an expectation is met by the very value only.

import { parse as parseTree } from "../composer/json-text.js";

/** Around the digits on their way through JSON.stringify: signs that no text has by chance. */
const [OPEN, CLOSE] = ["\u{f0000}", "\u{f0001}"];
const MARKED = new RegExp(`"${OPEN}([-+.\\deE]+)${CLOSE}"`, "gu");

/** A number that JavaScript would write otherwise, as it was written. */
export class Digits {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }

  toJSON() {
    return `${OPEN}${this.text}${CLOSE}`;
  }
}

/** The value of a JSON text, with `Digits` for numbers that would change. Throws JsonError. */
export function parse(text) {
  return valueOf(parseTree(text), text);
}

/** The JSON text of such a value. */
export function stringify(value, indent) {
  return JSON.stringify(value, null, indent)?.replace(MARKED, "$1");
}

function valueOf(node, text) {
  if (node.type === "array") return node.items.map((item) => valueOf(item, text));
  if (node.type === "object")
    return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOf(value, text)]));
  const written = text.slice(node.start, node.end);
  return node.type === "number" && String(node.value) !== written ? new Digits(written) : node.value;
}
