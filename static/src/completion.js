// Completion of what the specifications name: members of each section and known values.

import { syntaxTree } from "@codemirror/language";

/** The members of the document itself, by protocol; what is in them has names of its own. */
const TOP = {
  nlweb: ["query", "context", "prefer", "meta"],
  "agent-api": [
    ...["input", "stream", "model", "temperature", "top_p", "frequency_penalty", "presence_penalty"],
    ...["max_tokens", "stop", "n", "seed", "tools", "session_id", "response_id"],
  ],
};
const MEMBERS = {
  query: ["text", "site", "itemType", "location", "price"],
  context: ["@type", "@context", "prev", "text", "memory"],
  prefer: ["streaming", "response_format", "mode", "accept-language", "user-agent"],
  meta: ["version", "session_context", "user", "remember"],
  input: ["role", "type", "content"],
  "input.content": ["type", "text", "image_url", "data"],
  tools: ["type", "function"],
  "tools.function": ["name", "description", "parameters"],
};
const VALUES = {
  "prefer.response_format": ['"conversational_search"', '"chatgpt_app"'],
  "prefer.mode": ['"list"', '"summarize"', '"list, summarize"'],
  "prefer.streaming": ["true", "false"],
  "meta.remember": ["true", "false"],
  "meta.version": ['"0.54"', '"0.55"'],
  "context.@type": ['"ConversationalContext"'],
  stream: ["true", "false"],
  "input.role": ['"user"', '"system"', '"assistant"'],
  "input.type": ['"message"', '"function_call_output"', '"mcp_approval_response"'],
  "input.content.type": ['"text"', '"image"', '"data"'],
  "tools.type": ['"function"'],
};

/** The names of the members that lead to `node`, from the outside in. */
function pathTo(node, state) {
  const names = [];
  for (let at = node; at; at = at.parent) {
    if (at.name !== "Property") continue;
    const name = at.getChild("PropertyName");
    if (name) names.unshift(JSON.parse(state.sliceDoc(name.from, name.to)));
  }
  return names;
}

/** A CodeMirror completion source for requests. */
export function completeRequest(context) {
  const node = syntaxTree(context.state).resolveInner(context.pos, -1);
  const word = context.matchBefore(/"?[@\w.-]*/);
  if (!context.explicit && (!word || word.from === word.to)) return null;
  const inName = node.name === "PropertyName" || node.name === "Object" || node.parent?.name === "Object";
  return inName ? names(node, word, context.state) : values(node, word, context.state);
}

function names(node, word, state) {
  const property = node.name === "PropertyName" ? node.parent : node;
  const owner = property.name === "Property" ? property.parent : property;
  const path = pathTo(owner, state).join(".");
  const known = path ? MEMBERS[path] : TOP[document.getElementById("composer")?.dataset.protocol];
  if (!known) return null;
  const written = owner.getChildren("Property").map((each) => pathTo(each, state).at(-1));
  const options = known.filter((name) => !written.includes(name));
  return { from: word.from, options: options.map((name) => ({ label: `"${name}"`, type: "property" })) };
}

function values(node, word, state) {
  const known = VALUES[pathTo(node, state).join(".")];
  return known ? { from: word.from, options: known.map((label) => ({ label, type: "constant" })) } : null;
}
