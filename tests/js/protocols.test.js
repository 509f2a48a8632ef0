import assert from "node:assert/strict";
import { test } from "node:test";
import { describe } from "../../static/composer/list-entry-kinds.js";
import { parse, toValue } from "../../static/composer/json-text.js";
import { freshText, language, PROTOCOL_NAMES } from "../../static/composer/protocols.js";
import { translated, versioned } from "../../static/composer/translation.js";

const agentApi = language("agent-api");
const nlweb = language("nlweb");

test("a first request of each protocol holds the words", () => {
  for (const name of PROTOCOL_NAMES) {
    const document = JSON.parse(freshText(name, "soup", "0.55"));
    assert.equal(language(name).words(document), "soup");
    assert.equal(language(name).isEmpty(document), false);
    assert.equal(language(name).isEmpty(JSON.parse(freshText(name, " ", "0.55"))), true);
  }
});

test("words go from one protocol to the other and back", () => {
  const old = { protocol: "nlweb", document: '{"query": {"text": "soup"}, "x": 1}' };
  const other = { protocol: "agent-api", document: translated(old, "agent-api", "1") };
  assert.equal(agentApi.words(JSON.parse(other.document)), "soup");
  assert.equal(nlweb.words(JSON.parse(translated(other, "nlweb", "0.55"))), "soup");
  assert.equal(agentApi.words(JSON.parse(translated({ ...old, document: "{" }, "agent-api", "1"))), "");
});

test("the words are those of the user's last message", () => {
  const say = (role, text) => ({ role, content: [{ type: "text", text }] });
  const document = { input: [say("user", "first"), say("user", "last"), say("assistant", "no")] };
  assert.equal(agentApi.words(document), "last");
  assert.equal(agentApi.words({ input: [{ content: "plain" }] }), "plain");
});

test("whatever a document is, it has words or none", () => {
  for (const odd of [null, 1, "x", [], { input: 1 }, { input: [null, 1, { content: 5 }] }, { query: [] }]) {
    for (const each of PROTOCOL_NAMES.map(language)) {
      assert.equal(typeof each.words(odd), "string");
      assert.equal(typeof each.isEmpty(odd), "boolean");
    }
  }
});

test("a picture or data is not nothing", () => {
  const part = (content) => agentApi.isEmpty({ input: [{ content: [content] }] });
  assert.equal(part({ type: "image", image_url: "https://example.com/a.png" }), false);
  assert.equal(part({ type: "data", data: { call_id: "c1" } }), false);
  assert.equal(part({ type: "text", text: "" }), true);
});

test("what is no list of messages is not nothing: the server says what is wrong with it", () => {
  for (const input of ["hi", "", 5, null, {}, [1], [null, "hi"]])
    assert.equal(agentApi.isEmpty({ input }), false, JSON.stringify(input));
  for (const nothing of [{}, { input: [] }, { input: [{ role: "user" }] }])
    assert.equal(agentApi.isEmpty(nothing), true, JSON.stringify(nothing));
});

test("another version is named only where one was named", () => {
  assert.deepEqual(toValue(parse(versioned('{"meta": {"version": "0.54"}}', "0.55"))), {
    meta: { version: "0.55" },
  });
  assert.equal(versioned('{"input": []}', "1"), '{"input": []}');
  assert.equal(versioned("{", "1"), "{");
});

test("an entry is described by what decides its fields, and not by its texts", () => {
  const of = (value) => JSON.stringify(describe(parse(JSON.stringify(value))));
  const say = (text) => ({ role: "user", content: [{ type: "text", text }] });
  assert.equal(of(say("a")), of(say("b")));
  assert.notEqual(of(say("a")), of({ ...say("a"), role: "system" }));
  assert.notEqual(of(say("a")), of({ role: "user", content: "a" }));
  assert.notEqual(of("a"), of(say("a")));
});
