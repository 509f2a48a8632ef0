import assert from "node:assert/strict";
import { test } from "node:test";
import { describe } from "../../static/composer/list-entry-kinds.js";
import { parse, toValue } from "../../static/composer/json-text.js";
import { freshText, isEmpty, operationOf, titleIn, wordsOf } from "../../static/composer/protocols.js";
import { translated, versioned } from "../../static/composer/translation.js";
import { putRows } from "./page-rows.js";

// Protocols of the shapes that the table has: a text, another operation, messages with parts, and
// messages with texts.
const operation = (text, fresh, more = {}) => ({ name: "first", text, title: text, fresh, ...more });
const content = [{ type: "text", text: "$text" }];
putRows({
  query: {
    operations: [
      operation("/query/text", {
        1: { query: { text: "$text" }, meta: { version: "1" } },
        2: { query: { text: "$text" }, meta: { version: "2" } },
      }),
      operation("/token", { 2: { token: "", action: "check" } }, { name: "second", title: "/action" }),
    ],
  },
  parts: { operations: [operation("/input", { 1: { input: [{ role: "user", content }] } })] },
  texts: { operations: [operation("/messages", { 1: { messages: [{ role: "user", content: "$text" }] } })] },
});
const NAMES = ["query", "parts", "texts"];

test("a first request of each protocol holds the words", () => {
  for (const name of NAMES) {
    const document = JSON.parse(freshText(name, "soup", "1"));
    assert.equal(wordsOf(name, document), "soup");
    assert.equal(titleIn(name, document), "soup");
    assert.equal(isEmpty(name, document), false);
    assert.equal(isEmpty(name, JSON.parse(freshText(name, " ", "1"))), true);
  }
});

test("a first request is one of the version, or of the newest", () => {
  const versions = ["1", "2", "3"].map((each) => JSON.parse(freshText("query", "", each)).meta.version);
  assert.deepEqual(versions, ["1", "2", "2"]);
});

test("the operation is that of the member that a document has", () => {
  const rows = [
    [{ query: {} }, "first"],
    [{ token: "t", action: "cancel" }, "second"],
    [{ token: "t", query: {} }, "first"],
    [{}, "first"],
    [null, "first"],
  ];
  for (const [document, name] of rows) assert.equal(operationOf("query", document).name, name);
  assert.equal(titleIn("query", { token: "t", action: "cancel" }), "cancel");
  assert.equal(isEmpty("query", { token: " " }), true);
  assert.equal(isEmpty("query", { token: "t" }), false);
});

test("words go from one protocol to another", () => {
  for (const from of NAMES)
    for (const to of NAMES) {
      const old = { protocol: from, document: freshText(from, "soup", "1") };
      assert.equal(wordsOf(to, JSON.parse(translated(old, to, "1"))), "soup");
      assert.equal(wordsOf(to, JSON.parse(translated({ ...old, document: "{" }, to, "1"))), "");
    }
});

test("the words are those of the user's last message", () => {
  const say = (role, text) => ({ role, content: [{ type: "text", text }] });
  const input = [say("user", "first"), say("user", "last"), say("assistant", "no")];
  assert.equal(wordsOf("parts", { input }), "last");
  assert.equal(wordsOf("parts", { input: [{ content: "plain" }] }), "plain");
});

test("whatever a document is, it has words or none", () => {
  for (const odd of [null, 1, "x", [], { input: 1 }, { input: [null, 1, { content: 5 }] }, { query: [] }]) {
    for (const name of NAMES) {
      assert.equal(typeof wordsOf(name, odd), "string");
      assert.equal(typeof isEmpty(name, odd), "boolean");
    }
  }
});

test("a picture or data is not nothing", () => {
  const isPartEmpty = (part) => isEmpty("parts", { input: [{ content: [part] }] });
  assert.equal(isPartEmpty({ type: "image", image_url: "https://example.com/a.png" }), false);
  assert.equal(isPartEmpty({ type: "image_url", image_url: { url: "https://example.com/a.png" } }), false);
  assert.equal(isPartEmpty({ type: "data", data: { call_id: "c1" } }), false);
  assert.equal(isPartEmpty({ type: "text", text: "" }), true);
});

test("what is no list of messages is not nothing: the server says what is wrong with it", () => {
  for (const input of ["hi", "", 5, null, {}, [1], [null, "hi"]])
    assert.equal(isEmpty("parts", { input }), false, JSON.stringify(input));
  for (const nothing of [{}, { input: [] }, { input: [{ role: "user" }] }])
    assert.equal(isEmpty("parts", nothing), true, JSON.stringify(nothing));
});

test("what is no text is not nothing: the server says what is wrong with it", () => {
  for (const text of [["a"], {}, [], 5, false])
    assert.equal(isEmpty("query", { query: { text } }), false, JSON.stringify(text));
  for (const nothing of [{}, { query: {} }, { query: { text: null } }, { query: { text: " " } }])
    assert.equal(isEmpty("query", nothing), true, JSON.stringify(nothing));
});

test("an unknown protocol has the row of the default one, whatever its name", () => {
  for (const name of ["next", "constructor", "toString", "__proto__"]) {
    assert.equal(isEmpty(name, { query: { text: "soup" } }), false);
    assert.equal(titleIn(name, { query: { text: "soup" } }), "soup");
  }
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
