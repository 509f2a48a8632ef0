// Reads JSON text into a tree that knows where everything stands in the text. JSON.parse
// would do for the values, but it forgets the places, the order of number-like keys, repeated
// keys and the digits of long numbers, all of which an editor has to keep.

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- JSON forbids them inside strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;
const WORDS = { true: true, false: false, null: null };
const MAX_DEPTH = 100;

/** What is wrong with a JSON text, and where: `offset`, and `line` and `column` from 1. */
export class JsonError extends Error {
  constructor(message, text, offset) {
    const before = text.slice(0, offset).split("\n");
    super(message);
    this.offset = offset;
    this.line = before.length;
    this.column = before[before.length - 1].length + 1;
  }

  get sentence() {
    return `Line ${this.line}, column ${this.column}: ${this.message}`;
  }
}

/**
 * The tree of a JSON text. Nodes have `type`, `start`, `end`, and `value` (scalars),
 * `items` (arrays) or `members` ({key, start, keyEnd, value}) (objects).
 * Throws JsonError.
 */
export function parse(text) {
  const reader = new Reader(text);
  const root = reader.value(0);
  reader.space();
  if (reader.at < text.length) reader.fail("unexpected text after the end of the document");
  return root;
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message, at = this.at) {
    throw new JsonError(message, this.text, at);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found?.[0];
  }

  space() {
    this.match(SPACE);
  }

  value(depth) {
    this.space();
    const start = this.at;
    const mark = this.text[start];
    if (depth > MAX_DEPTH) this.fail("too deeply nested");
    if (mark === "{") return this.object(start, depth);
    if (mark === "[") return this.array(start, depth);
    if (mark === '"') return { type: "string", value: this.string(), start, end: this.at };
    if (mark === undefined) this.fail("unexpected end of the text, a value is missing");
    const number = this.match(NUMBER);
    if (number) return { type: "number", value: Number(number), start, end: this.at };
    return this.word(start);
  }

  word(start) {
    const word = /^[^\s,:[\]{}"]+/.exec(this.text.slice(start, start + 40))?.[0] ?? "";
    if (!Object.hasOwn(WORDS, word)) {
      this.fail(word ? `“${word}” is not a JSON value` : `expected a value before “${this.text[start]}”`);
    }
    this.at += word.length;
    const value = WORDS[word];
    return { type: value === null ? "null" : "boolean", value, start, end: this.at };
  }

  string() {
    const start = this.at;
    const found = this.match(STRING);
    if (found) return JSON.parse(found);
    const line = /^"(?:[^"\\\n]|\\.)*/.exec(this.text.slice(start))[0];
    const closed = this.text[start + line.length] === '"';
    return this.fail(
      closed ? "invalid escape sequence or control character in the string" : "unterminated string",
      start,
    );
  }

  object(start, depth) {
    const members = [];
    this.at += 1;
    this.list("}", () => {
      const from = this.at;
      if (this.text[from] !== '"') this.fail("expected a property name in double quotes");
      const key = this.string();
      const keyEnd = this.at;
      this.space();
      if (this.text[this.at] !== ":") this.fail("expected a colon after the property name");
      this.at += 1;
      members.push({ key, start: from, keyEnd, value: this.value(depth + 1) });
    });
    return { type: "object", members, start, end: this.at };
  }

  array(start, depth) {
    const items = [];
    this.at += 1;
    this.list("]", () => items.push(this.value(depth + 1)));
    return { type: "array", items, start, end: this.at };
  }

  /** Reads what stands between commas, up to and including `closer`. */
  list(closer, read) {
    this.space();
    if (this.text[this.at] === closer) {
      this.at += 1;
      return;
    }
    for (;;) {
      this.space();
      read();
      this.space();
      const mark = this.text[this.at];
      if (mark !== "," && mark !== closer) this.fail(`expected a comma or “${closer}”`);
      this.at += 1;
      if (mark === closer) return;
    }
  }
}

/** The JavaScript value of a node. */
export function toValue(node) {
  if (node.type === "array") return node.items.map(toValue);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(node.members.map(({ key, value }) => [key, toValue(value)]));
}
