// The kinds of JSON values that a field can hold, and what one becomes as another.

import { parse, toValue } from "./json-text.js";

export const KINDS = {
  text: "text",
  number: "number",
  boolean: "boolean",
  list: "list",
  null: "null",
  json: "JSON",
};

/** Which kind of editor suits a node, of the kinds that the field offers. */
export function kindOf(node, offered) {
  if (node.type === "string") return "text";
  const strings = node.type === "array" && node.items.every((item) => item.type === "string");
  if (strings && offered.includes("list")) return "list";
  return node.type in KINDS ? node.type : "json";
}

/**
 * What a value becomes when its kind is changed by hand, as JSON text; undefined where it becomes
 * nothing before something is entered. `raw` is "" or null for a member that is not set.
 */
export function convert(raw, kind) {
  if (kind === "null") return "null";
  const value = raw ? toValue(parse(raw)) : undefined;
  const isNothing = value === undefined || value === null || value === "";
  const text = typeof value === "string" ? value : isNothing ? "" : raw;
  switch (kind) {
    case "text":
      return JSON.stringify(text);
    case "number":
      return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text.trim()) ? text.trim() : undefined;
    case "boolean":
      return isNothing ? undefined : String(value === true || text === "true");
    case "list":
      if (isNothing) return undefined;
      return JSON.stringify(Array.isArray(value) ? value.map(String) : [text]);
    default:
      return isNothing ? undefined : raw;
  }
}
