import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "../../static/composer/json-text.js";
import { namesAt, problemsIn, valuesAt } from "../../static/composer/editor/json-schema.js";

const FOLDER = new URL("../../playground/protocols/schemas/", import.meta.url);

/** A schema with those that it refers to, as the playground sends it. */
function load(folder, name) {
  const defs = {};
  const bundle = (node) => {
    if (Array.isArray(node)) return node.map(bundle);
    if (!(node instanceof Object)) return node;
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, bundle(value)]));
    if (typeof node.$ref !== "string" || !node.$ref.endsWith(".json")) return copy;
    const other = node.$ref.slice(0, -".json".length);
    if (!(other in defs)) {
      defs[other] = {};
      defs[other] = bundle(read(other));
    }
    return { ...copy, $ref: `#/$defs/${other}` };
  };
  const read = (each) => JSON.parse(readFileSync(new URL(`${folder}/${each}.json`, FOLDER), "utf8"));
  return { ...bundle(read(name)), $defs: defs };
}

const ASK = load("nlweb-0.55", "ask-request");
const AWAIT = load("nlweb-0.55", "await-request");
const AGENT = load("agent-api-1", "request");

const found = (schema, document) =>
  problemsIn(schema, parse(JSON.stringify(document))).map(({ pointer, message }) => [pointer, message]);
const namesOf = (...args) => namesAt(...args).map(({ name }) => name);
const valuesOf = (...args) => valuesAt(...args).map(({ value }) => value);
const message = (content) => ({ input: [{ role: "user", type: "message", content }] });

test("offers the names of the document and of each section", () => {
  assert.deepEqual(namesOf(ASK, []), ["query", "context", "prefer", "meta"]);
  for (const name of ["text", "site", "itemType"]) assert.ok(namesOf(ASK, ["query"]).includes(name));
  assert.ok(namesOf(ASK, ["meta"]).includes("session_context"), "through a reference");
  assert.ok(namesOf(AGENT, ["input", "3"]).includes("role"), "in an element of an array");
  assert.deepEqual(namesOf(ASK, ["query", "text", "deep"]), []);
  assert.deepEqual(namesOf(AWAIT, []).toSorted(), ["action", "meta", "promise_token"]);
});

test("says what names mean, and which are required", () => {
  const text = namesAt(ASK, ["query"]).find(({ name }) => name === "text");
  assert.ok(text.isRequired);
  assert.ok(text.text.length > 10);
  assert.ok(!namesAt(ASK, ["query"]).find(({ name }) => name === "site").isRequired);
});

test("offers the values that the schema names", () => {
  assert.deepEqual(valuesOf(ASK, ["prefer", "streaming"]).toSorted(), [false, true]);
  assert.ok(valuesOf(ASK, ["prefer", "response_format"]).includes("chatgpt_app"));
  assert.ok(valuesOf(AWAIT, ["action"]).includes("checkin"));
  assert.ok(valuesOf(ASK, ["context"]).some((value) => JSON.stringify(value) === "{}"));
});

test("values with meanings come first, with their meaning", () => {
  const schema = { type: "string", examples: ["a", "b"], "x-values": { b: "The second." } };
  assert.deepEqual(valuesAt(schema, []), [
    { value: "b", text: "The second.", isExample: false },
    { value: "a", text: "", isExample: true },
  ]);
  const first = (each) => valuesAt(each, [])[0].value;
  assert.equal(first({ enum: [200], "x-values": { 200: "Fine." } }), 200);
  assert.equal(first({ type: "integer", "x-values": { 200: "Fine." } }), 200);
  assert.equal(first({ type: "boolean", "x-values": { true: "Yes." } }), true);
  assert.equal(first({ type: "string", "x-values": { true: "Yes." } }), "true");
});

test("conditions apply as they do to the document, without one all alternatives count", () => {
  const schema = {
    properties: { kind: {} },
    if: { properties: { kind: { const: "a" } }, required: ["kind"] },
    then: { properties: { one: {} } },
    else: { properties: { two: {} } },
  };
  assert.deepEqual(namesOf(schema, []), ["kind", "one", "two"]);
  assert.deepEqual(namesOf(schema, [], parse('{"kind": "a"}')), ["kind", "one"]);
  assert.deepEqual(namesOf(schema, [], parse('{"kind": "b"}')), ["kind", "two"]);
});

test("accepts requests that are right, extensions included", () => {
  assert.deepEqual(found(ASK, { query: { text: "eggs", diet: ["vegan"] }, own: 1 }), []);
  assert.deepEqual(found(AWAIT, { promise_token: "p", action: "checkin" }), []);
  assert.deepEqual(found(AGENT, { ...message([{ type: "text", text: "hi" }]), temperature: null }), []);
  for (const schema of [ASK, AWAIT, AGENT])
    for (const example of schema.examples ?? []) assert.deepEqual(found(schema, example), []);
});

test("finds wrong types, and where", () => {
  const text = '{"query": {"text": 5}, "prefer": {"streaming": "yes"}}';
  const [first, second] = problemsIn(ASK, parse(text));
  assert.equal(first.pointer, "/query/text");
  assert.equal(text.slice(first.start, first.end), "5");
  assert.equal(first.message, "Expected a string.");
  assert.equal(text.slice(second.start, second.end), '"yes"');
  assert.equal(second.message, "Expected true or false.");
});

test("finds missing names at the brace of their object", () => {
  const [problem] = problemsIn(ASK, parse('{"query": {}}'));
  assert.deepEqual([problem.pointer, problem.start, problem.end], ["/query/text", 10, 11]);
  assert.equal(problem.message, "“text” is required.");
});

test("finds what is out of range, empty or not among the values", () => {
  const words = [{ type: "text", text: "hi" }];
  assert.deepEqual(found(AGENT, { ...message(words), temperature: 3 }), [
    ["/temperature", "The maximum is 2."],
  ]);
  assert.deepEqual(found(AGENT, { ...message(words), n: 0 }), [["/n", "The minimum is 1."]]);
  assert.deepEqual(found(AGENT, { ...message(words), n: 1.5 }), [["/n", "Expected an integer or null."]]);
  assert.deepEqual(found(AGENT, { ...message(words), n: 2.0 }), []);
  assert.deepEqual(found(AGENT, { input: [] }), [["/input", "Expected at least 1 item."]]);
  assert.deepEqual(found(ASK, { query: { text: " " } }), [["/query/text", "Enter a text."]]);
});

test("names the types of all alternatives, or what is wrong with the one that fits best", () => {
  const schema = {
    anyOf: [{ type: "string" }, { type: "object", required: ["a"], properties: { a: { type: "number" } } }],
  };
  assert.deepEqual(found(schema, 5), [["", "Expected a string or an object."]]);
  assert.deepEqual(found(schema, { a: "x" }), [["/a", "Expected a number."]]);
  assert.deepEqual(found({ oneOf: [{ type: "number" }, { minimum: 0 }] }, 3).length, 1);
});

test("reads the other keywords", () => {
  const cases = [
    [{ enum: ["a", { b: 1, c: 2 }] }, { c: 2, b: 1 }, 0],
    [{ enum: ["a"] }, "b", 1],
    [{ const: null }, null, 0],
    [{ additionalProperties: false, properties: { a: {} } }, { a: 1, b: 2 }, 1],
    [{ additionalProperties: { type: "string" } }, { b: 2 }, 1],
    [{ maxItems: 1, items: { type: "string" } }, ["a", 1], 2],
    [{ maxLength: 1 }, "🍳", 0],
    [{ minLength: 2 }, "🍳", 1],
    [{ pattern: "^a+$" }, "b", 1],
    [{ not: { type: "string" } }, "b", 1],
    [{ allOf: [{ type: "string" }, { minLength: 3 }] }, "ab", 1],
    [{ if: { type: "string" }, then: { minLength: 3 }, else: { minimum: 3 } }, 2, 1],
    [{ type: "number" }, "{{count}}", 0],
    [{ properties: { a: { enum: ["x"] } } }, { a: "x{{y}}" }, 0],
    [{ type: "string" }, "{not a variable}", 0],
  ];
  for (const [schema, document, count] of cases)
    assert.equal(found(schema, document).length, count, JSON.stringify([schema, document]));
});

test("stops at schemas that refer to themselves", () => {
  const loop = { anyOf: [{ $ref: "#" }] };
  assert.deepEqual(namesAt(loop, ["a"]), []);
  const tree = { properties: { child: { $ref: "#" } }, required: ["name"] };
  assert.deepEqual(found(tree, { name: "a", child: { child: { name: 1 } } }), [
    ["/child/name", "“name” is required."],
  ]);
});
