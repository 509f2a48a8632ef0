// What the entries of a list look like: messages with their parts, and functions.

import { iconButton, make } from "../site/dom.js";
import { pointerOf } from "./json-pointer.js";
import { freshMessage } from "./protocols.js";

const ROLES = ["user", "system", "assistant", "tool"];
const TYPES = ["message", "function_call_output", "mcp_approval_response", "reasoning", "function_call"];
/** Of each type of content: what holds its value, what edits it, its name, and a first value. */
const PARTS = {
  text: { member: "text", types: "text", label: "Text", first: "" },
  image: { member: "image_url", types: "text", label: "Image", first: "", placeholder: "https://" },
  data: { member: "data", types: "json", label: "Data", first: {} },
};

/** The member of an object node. */
const member = (node, key) => node?.members?.findLast((each) => each.key === key)?.value;
/** A member that is a text, undefined for anything else. */
const textAt = (node, key) => {
  const found = member(node, key);
  return found?.type === "string" ? found.value : undefined;
};

/** A field of the request, made like those of the form. */
function field(label, keys, { types, placeholder = "", className = "" }) {
  const made = make(
    "json-field",
    { className: `field ${className}` },
    make("label", { className: "field-label" }, label),
    make("div", { className: "field-editor" }),
    make("select", { className: "field-type", "aria-label": `${label}: type` }),
    make("p", { className: "field-error", hidden: true }),
  );
  Object.assign(made.dataset, { pointer: pointerOf(keys), types, required: "", placeholder });
  return made;
}

/** One of several values that can be chosen, the present one among them. */
function choice(label, keys, value, offered, request) {
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

/** What decides which fields an entry has: when it changes, they are made anew. */
export function describe(node) {
  const content = member(node, "content");
  const inner = member(node, "function");
  return [
    node.type,
    textAt(node, "role"),
    textAt(node, "type"),
    content?.type,
    content?.items?.map((part) => [part.type, textAt(part, "type")]),
    inner?.type,
  ];
}

function part(node, index, at, api) {
  const keys = [...at, "content", String(index)];
  const kind = PARTS[textAt(node, "type")];
  const options = { className: "list-value", ...kind };
  const made = kind
    ? field(kind.label, [...keys, kind.member], options)
    : field("Part", keys, { ...options, types: "json" });
  const remove = iconButton("close", `Remove part ${index + 1}`, () => api.remove([...at, "content"], index));
  return make("div", { className: "list-part" }, made, remove);
}

function adder([type, { label, member: name, first }], at, api) {
  const button = make("button", { type: "button", className: "btn btn-quiet btn-small" }, `+ ${label}`);
  button.addEventListener("click", () => api.append([...at, "content"], { type, [name]: first }));
  return button;
}

const message = {
  name: "message",
  title: "Message",
  isOrdered: true,
  fresh: freshMessage,
  head(node, at, { request, form }) {
    if (node.type !== "object") return [make("span", { className: "list-name" }, "no message")];
    const hasType = "type" in freshMessage(form) || member(node, "type");
    return [
      choice("Role", [...at, "role"], textAt(node, "role"), ROLES, request),
      ...(hasType ? [choice("Type", [...at, "type"], textAt(node, "type"), TYPES, request)] : []),
    ];
  },
  body(node, at, api) {
    if (node.type !== "object") return [field("JSON", at, { types: "json" })];
    const content = member(node, "content");
    if (content && content.type !== "array")
      return [field("content", [...at, "content"], { types: "text json" })];
    const parts = (content?.items ?? []).map((each, index) => part(each, index, at, api));
    const adders = Object.entries(PARTS).map((each) => adder(each, at, api));
    return [...parts, make("div", { className: "list-add" }, ...adders)];
  },
};

const tool = {
  name: "function",
  title: "Function",
  isOptional: true,
  fresh: () => ({
    type: "function",
    function: { name: "", description: "", parameters: { type: "object", properties: {} } },
  }),
  head: (node) => [
    make("span", { className: "list-name" }, textAt(node, "type") === "function" ? "function" : "tool"),
  ],
  body(node, at) {
    if (member(node, "function")?.type !== "object") return [field("JSON", at, { types: "json" })];
    return [
      field("name", [...at, "function", "name"], { types: "text" }),
      field("description", [...at, "function", "description"], { types: "text" }),
      field("parameters", [...at, "function", "parameters"], { types: "json" }),
    ];
  },
};

export const kinds = { message, tool };
