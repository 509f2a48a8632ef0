// The kinds of JSON values that a field can hold, and what one becomes as another.

import { parse, toValue } from "./json-text.js";

export const KINDS = {
  text: "text",
  number: "number",
  boolean: "true / false",
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

/** What a value becomes when its kind is changed by hand; JSON text. */
export function convert(raw, kind) {
  const value = raw ? toValue(parse(raw)) : null;
  const text = typeof value === "string" ? value : (raw ?? "");
  switch (kind) {
    case "text":
      return JSON.stringify(value === null ? "" : text);
    case "number":
      return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text.trim()) ? text.trim() : "0";
    case "boolean":
      return String(value === true || text === "true");
    case "list":
      return JSON.stringify(
        Array.isArray(value) ? value.map(String) : text && value !== null ? [text] : [""],
      );
    case "json":
      return raw && value !== null && value !== "" ? raw : "{}";
    default:
      return "null";
  }
}
