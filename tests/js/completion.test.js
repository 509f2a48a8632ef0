import assert from "node:assert/strict";
import { test } from "node:test";
import { CompletionContext } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { completionOf } from "../../static/composer/editor/completion.js";
import { nameAt, nameNear } from "../../static/composer/editor/json-place.js";

const SCHEMA = {
  type: "object",
  properties: {
    query: {
      required: ["text"],
      properties: { text: { type: "string", description: "The question." }, site: {}, price: {} },
    },
    prefer: { properties: { mode: { enum: ["list", "summarize"] }, streaming: { type: "boolean" } } },
    input: { items: { properties: { role: { examples: ["user"] } } } },
  },
};

/** State and position of a text with the caret marked as "|". */
function stateAt(marked) {
  const position = marked.indexOf("|");
  const state = EditorState.create({ doc: marked.replace("|", ""), extensions: [json()] });
  ensureSyntaxTree(state, state.doc.length, 5000);
  return [state, position];
}

async function complete(marked, { explicit = true, schema = SCHEMA } = {}) {
  const [state, position] = stateAt(marked);
  return completionOf(async () => schema)(new CompletionContext(state, position, explicit));
}

const labels = async (...args) => (await complete(...args))?.options.map(({ label }) => label) ?? null;

/** The text after the completion with a label was chosen. */
async function chosen(marked, label) {
  const [state, position] = stateAt(marked);
  const found = await complete(marked);
  const option = found.options.find((each) => each.label === label);
  let after = "";
  const view = { state, dispatch: (change) => (after = state.update(change).state.doc.toString()) };
  option.apply(view, option, found.from, position);
  return after;
}

test("offers names that are not written yet", async () => {
  assert.deepEqual(await labels('{"query": {}, |}'), ["prefer", "input"]);
  assert.deepEqual(await labels('{"query": {"text": "a", "|"}}'), ["site", "price"]);
  assert.deepEqual(await labels('{"query": {"|": 1}}'), ["text", "site", "price"]);
  assert.deepEqual(await labels('{"input": [{"role": 1}, {|}]}'), ["role"]);
});

test("offers them while the text is not complete", async () => {
  assert.deepEqual(await labels('{"|'), ["query", "prefer", "input"]);
  assert.deepEqual(await labels('{"query": {"te|'), ["text", "site", "price"]);
  assert.deepEqual(await labels('{"query": {"text": "a", |'), ["site", "price"]);
});

test("says what a name means, and that it is required", async () => {
  const [text] = (await complete('{"query": {|}}')).options;
  assert.deepEqual([text.detail, text.info], ["required", "The question."]);
});

test("offers values where a value belongs", async () => {
  assert.deepEqual(await labels('{"prefer": {"mode": |}}'), ["list", "summarize"]);
  assert.deepEqual(await labels('{"prefer": {"mode": "l|"}}'), ["list", "summarize"]);
  assert.deepEqual(await labels('{"prefer": {"streaming": |'), ["true", "false"]);
  assert.deepEqual(await labels('{"input": [{"role": "|"}]}'), ["user"]);
});

test("offers nothing elsewhere, unasked or without a schema", async () => {
  assert.equal(await labels('{"query"| : {}}'), null);
  assert.equal(await labels('{"query": {"text": "a"|}}'), null);
  assert.equal(await labels("{|}", { explicit: false }), null);
  assert.equal(await labels("{|}", { schema: null }), null);
  assert.deepEqual(await labels('{"|"}', { explicit: false }), ["query", "prefer", "input"]);
});

test("writes quotes and a colon once", async () => {
  assert.equal(await chosen('{"|"}', "query"), '{"query": }');
  assert.equal(await chosen("{qu|}", "query"), '{"query": }');
  assert.equal(await chosen('{"qu|ery": 1}', "prefer"), '{"prefer": 1}');
  assert.equal(await chosen('{"prefer": {"mode": "l|"}}', "list"), '{"prefer": {"mode": "list"}}');
  assert.equal(await chosen('{"prefer": {"streaming": |}}', "true"), '{"prefer": {"streaming": true}}');
});

test("finds the name at a position, and the one of the member around it", () => {
  const name = (find, marked) => find(...stateAt(marked))?.keys ?? null;
  assert.deepEqual(name(nameAt, '{"input": [1, {"ro|le": 1}]}'), ["input", "1", "role"]);
  assert.equal(name(nameAt, '{"input": [|1]}'), null);
  assert.deepEqual(name(nameNear, '{"query": {"text": "eg|gs"}}'), ["query", "text"]);
  assert.deepEqual(name(nameNear, '|{"query": {}}'), ["query"]);
  assert.equal(name(nameNear, "|"), null);
});
