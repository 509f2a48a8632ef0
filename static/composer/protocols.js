// What the composer has to know of each protocol: a first request, where its words are, and what it
// carries of a conversation. All of it is in the page, from the server's table of protocols.

import { keysOf } from "./json-pointer.js";

let table;

/** {hasVersions, bindings, carried, operations} by protocol, the default one first. */
const rows = () => (table ??= JSON.parse(document.getElementById("protocols").textContent));

/** The row of a protocol; that of the default for one that is not known. */
export const rowOf = (protocol) =>
  Object.hasOwn(rows(), protocol) ? rows()[protocol] : Object.values(rows())[0];

/** The operation of a request: the first one whose member the document has, else the first. */
export function operationOf(protocol, document) {
  const { operations } = rowOf(protocol);
  const has = ({ text }) => document instanceof Object && keysOf(text)[0] in document;
  return operations.find(has) ?? operations[0];
}

/** The operation that a form shows. */
export function operationIn(form) {
  const { operations } = rowOf(form.dataset.protocol);
  return operations.find(({ name }) => name === form.dataset.operation) ?? operations[0];
}

/** The words of a request: its text, or that of the user's last message. */
export const wordsOf = (protocol, document) => wordsAt(document, rowOf(protocol).operations[0].text);

/** The title of a request: of a raw one its method and path. */
export function titleIn(protocol, document) {
  const { method = "POST", path = "" } = document?.raw ?? {};
  return document?.raw
    ? `${method} ${path}`.trim()
    : wordsAt(document, operationOf(protocol, document).title);
}

/** Whether a request lacks what it must have. */
export function isEmpty(protocol, document) {
  const operation = operationOf(protocol, document);
  const found = valueAt(document, operation.text);
  // A value of another type is wrong, not empty: the server says in which way.
  if (!isList(operation)) return typeof (found ?? "") === "string" && !(found ?? "").trim();
  if (found === undefined) return true;
  if (!Array.isArray(found) || listOf(found).length < found.length) return false;
  return found.every(({ content }) =>
    typeof content === "string" ? !content.trim() : listOf(content).every(isBlank),
  );
}

/** The text of a first request with these words. */
export function freshText(protocol, words, version, operation = rowOf(protocol).operations[0]) {
  return JSON.stringify(fresh(operation, words, version), null, 2);
}

/** A first message of a list at these keys, without words. */
export function freshMessage(form) {
  const operation = operationIn(form);
  return valueAt(fresh(operation, "", form.elements.version.value), operation.text)[0];
}

/** The control that the words are written into: of several messages that of the last one. */
export function wordsField(form) {
  const { text } = operationIn(form);
  const ends = ["text", "content"].map((end) => `[data-pointer^="${text}/"][data-pointer$="/${end}"]`);
  return [...form.querySelectorAll(`json-field:is([data-pointer="${text}"], ${ends})`)].at(-1);
}

/** Shows the sections of the form's protocol and operation, and hides the others. */
export function showSections(form) {
  const { protocol } = form.dataset;
  const { name } = operationIn(form);
  for (const section of form.querySelectorAll(".form-section, request-operation")) {
    const { protocol: own, operation: only = name } = section.dataset;
    section.hidden = own !== protocol || only !== name;
  }
}

/** Shows the sections and the versions of a protocol, and hides those of the others. */
export function showProtocol(form, protocol, version) {
  if (form.dataset.protocol !== protocol) delete form.dataset.operation;
  form.dataset.protocol = protocol;
  showSections(form);
  const select = form.elements.version;
  for (const option of select.options) option.hidden = option.disabled = option.dataset.of !== protocol;
  const own = [...select.options].filter((option) => !option.disabled);
  select.value = (own.find(({ value }) => value === version) ?? own.at(-1))?.value ?? "";
}

/** A first request of an operation, with these words in place of "$text". */
function fresh({ fresh: byVersion }, words, version) {
  const document = byVersion[version] ?? Object.values(byVersion).at(-1);
  const withWords = (_, value) => (value === "$text" ? words : value);
  return JSON.parse(JSON.stringify(document), withWords);
}

/** Whether what an operation must have is a list of messages. */
const isList = (operation) => Array.isArray(valueAt(Object.values(operation.fresh)[0], operation.text));

function wordsAt(document, pointer) {
  const found = valueAt(document, pointer);
  if (!Array.isArray(found)) return found instanceof Object ? "" : String(found ?? "");
  const said = listOf(found).findLast(({ role = "user" }) => role === "user");
  return typeof said?.content === "string"
    ? said.content
    : listOf(said?.content)
        .map(({ text }) => textOf(text))
        .join(" ");
}

/** Whether a part of a message holds nothing but its type. */
const isBlank = (part) =>
  Object.entries(part).every(([name, value]) => name === "type" || !(textOf(value).trim() || isValue(value)));
const isValue = (value) => Boolean(value) && typeof value !== "string";

const valueAt = (document, pointer) =>
  keysOf(pointer).reduce((found, key) => (found instanceof Object ? found[key] : undefined), document);
const textOf = (value) => (typeof value === "string" ? value : "");
const listOf = (value) => (Array.isArray(value) ? value.filter((each) => each instanceof Object) : []);
