// Edits of JSON text that touch only what they change: everything else keeps its order, its
// spelling and its white space. Each takes a text that `parse` accepts and returns a new one.

import { parse } from "./json-text.js";

const STEP = "  ";
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** The order in which the specification names the sections of a request. */
const SECTIONS = ["promise_token", "action", "query", "context", "prefer", "meta"];

/** The node that `keys` lead to, undefined where there is none. The last of equal keys counts. */
export function find(root, keys) {
  let node = root;
  for (const key of keys) {
    if (node?.type === "array") node = node.items[Number(key)];
    else node = node?.members?.findLast((member) => member.key === key)?.value;
  }
  return node;
}

/** Sets what `keys` lead to to the JSON text `raw`, making objects on the way. */
export function set(text, keys, raw) {
  const root = parse(text);
  const found = find(root, keys);
  if (found) return splice(text, found.start, found.end, shift(raw, indentAt(text, found.start)));
  let depth = keys.length - 1;
  while (depth > 0 && !find(root, keys.slice(0, depth))) depth -= 1;
  const parent = find(root, keys.slice(0, depth));
  const nested = keys.slice(depth + 1).reduceRight((inner, key) => wrap(key, inner), raw);
  return insert(text, parent, keys[depth], nested, depth === 0);
}

/** Removes what `keys` lead to, and a top-level section that is empty after it. */
export function remove(text, keys) {
  const parent = find(parse(text), keys.slice(0, -1));
  const place = parent?.members?.findLastIndex((member) => member.key === keys.at(-1)) ?? -1;
  if (place < 0) return text;
  if (parent.members.length === 1) {
    const prune = keys.length === 2 && keys[0] !== "query";
    return prune ? remove(text, keys.slice(0, 1)) : splice(text, parent.start, parent.end, "{}");
  }
  const { members } = parent;
  if (place > 0) return splice(text, members[place - 1].value.end, members[place].value.end, "");
  return splice(text, members[0].start, members[1].start, "");
}

/** Gives the member that `keys` lead to another name. */
export function rename(text, keys, name) {
  const parent = find(parse(text), keys.slice(0, -1));
  const member = parent?.members?.findLast((each) => each.key === keys.at(-1));
  return member ? splice(text, member.start, member.keyEnd, JSON.stringify(name)) : text;
}

/** The JSON text of a node as it is written, its lines moved to the left margin. */
export function source(text, node) {
  const indent = indentAt(text, node.start);
  return text.slice(node.start, node.end).replaceAll(`\n${indent}`, "\n");
}

/** A JSON text with two spaces a level: tokens are moved, never rewritten. */
export function indent(text) {
  const tokens = text.match(TOKEN) ?? [];
  const line = (depth) => `\n${STEP.repeat(depth)}`;
  let depth = 0;
  let written = "";
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const isFirst = before === "{" || before === "[";
    if (token === "}" || token === "]") {
      depth -= 1;
      written += isFirst ? token : line(depth) + token;
      continue;
    }
    if (isFirst || before === ",") written += line(depth);
    written += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
  }
  return written;
}

function insert(text, parent, key, raw, isSection) {
  const { members } = parent;
  const wide = members.length === 0 || /\n/.test(text.slice(parent.start, members[0].start));
  const outer = indentAt(text, parent.start);
  const indent = members.length && wide ? indentAt(text, members[0].start) : outer + STEP;
  const written = `${JSON.stringify(key)}: ${shift(raw, wide ? indent : outer)}`;
  const gap = wide ? `\n${indent}` : " ";
  if (!members.length) return splice(text, parent.start, parent.end, `{${gap}${written}\n${outer}}`);
  const next = isSection ? laterSection(members, key) : undefined;
  if (next) return splice(text, next.start, next.start, `${written},${gap}`);
  const end = members.at(-1).value.end;
  return splice(text, end, end, `,${gap}${written}`);
}

function laterSection(members, key) {
  const rank = SECTIONS.indexOf(key);
  if (rank < 0) return undefined;
  return members.find((member) => SECTIONS.indexOf(member.key) > rank);
}

const wrap = (key, raw) => `{\n${STEP}${JSON.stringify(key)}: ${shift(raw, STEP)}\n}`;
const shift = (raw, indent) => raw.replaceAll("\n", `\n${indent}`);
const splice = (text, start, end, put) => text.slice(0, start) + put + text.slice(end);

function indentAt(text, offset) {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)[0];
}
