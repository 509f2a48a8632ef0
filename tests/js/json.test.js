import assert from "node:assert/strict";
import { test } from "node:test";
import * as edit from "../../static/composer/json-edit.js";
import { keysOf, pointerOf } from "../../static/composer/json-pointer.js";
import { JsonError, parse, toValue } from "../../static/composer/json-text.js";

const REQUEST = `{
  "query": {
    "text": "pasta",
    "10": 1, "2": 12345678901234567890
  },
  "meta": {"version": "0.55"}
}`;

const failure = (text) => {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof JsonError);
    return [error.line, error.column, error.message];
  }
  return assert.fail(`${text} was accepted`);
};

test("reads what JSON.parse reads", () => {
  const samples = [
    "null",
    " [] ",
    '{"a": {"b": [1, -2.5e3, true, false, null, "\\u00e9\\n"]}}',
    REQUEST,
    '{"__proto__": 1}',
  ];
  for (const text of samples) assert.deepEqual(toValue(parse(text)), JSON.parse(text));
});

test("refuses what JSON.parse refuses", () => {
  const samples = [
    "",
    "{",
    "[1,]",
    '{"a":}',
    "{a: 1}",
    '"\t"',
    '"\\x"',
    "01",
    "+1",
    ".5",
    "tru",
    "[1 2]",
    "{} {}",
    '{"a" 1}',
    "NaN",
    '"abc',
  ];
  for (const text of samples) {
    assert.throws(() => JSON.parse(text), text);
    failure(text);
  }
});

test("says where and why", () => {
  assert.deepEqual(failure('{\n  "a": 1\n  "b": 2\n}'), [3, 3, "expected a comma or “}”"]);
  assert.deepEqual(failure('{"a": tru}'), [1, 7, "“tru” is not a JSON value"]);
  assert.deepEqual(failure('{"a": }'), [1, 7, "expected a value before “}”"]);
  assert.deepEqual(failure('{"a": "b}'), [1, 7, "unterminated string"]);
  assert.deepEqual(failure('{"a": 1'), [1, 8, "expected a comma or “}”"]);
});

test("refuses depths that would exhaust the stack", () => {
  assert.match(failure("[".repeat(100_000))[2], /too deeply nested/);
});

test("replaces a value and nothing else", () => {
  const after = edit.set(REQUEST, ["query", "text"], '"soup"');
  assert.equal(after, REQUEST.replace("pasta", "soup"));
});

test("adds a member in the manner of its neighbours", () => {
  assert.match(edit.set(REQUEST, ["query", "site"], '"a"'), /67890,\n {4}"site": "a"\n {2}\}/);
  assert.match(edit.set(REQUEST, ["meta", "user"], '"u"'), /\{"version": "0.55", "user": "u"\}/);
});

test("adds a missing section where the specification has it", () => {
  const after = edit.set(REQUEST, ["context", "prev"], '[\n  "a"\n]');
  assert.deepEqual(Object.keys(JSON.parse(after)), ["query", "context", "meta"]);
  assert.match(after, /\n {2}"context": \{\n {4}"prev": \[\n {6}"a"\n {4}\]\n {2}\},\n {2}"meta"/);
});

test("writes into an empty document", () => {
  assert.equal(edit.set("{}", ["query", "text"], '"a"'), '{\n  "query": {\n    "text": "a"\n  }\n}');
});

test("removes the first, a middle, the last and the only member", () => {
  const text = '{"a": 1, "b": 2, "c": 3}';
  assert.equal(edit.remove(text, ["a"]), '{"b": 2, "c": 3}');
  assert.equal(edit.remove(text, ["b"]), '{"a": 1, "c": 3}');
  assert.equal(edit.remove(text, ["c"]), '{"a": 1, "b": 2}');
  assert.equal(edit.remove('{"a": 1}', ["a"]), "{}");
  assert.equal(edit.remove(text, ["d"]), text);
});

test("removes a section with its last member, but never the query", () => {
  assert.deepEqual(Object.keys(JSON.parse(edit.remove(REQUEST, ["meta", "version"]))), ["query"]);
  assert.equal(edit.remove('{"query": {"text": "a"}}', ["query", "text"]), '{"query": {}}');
});

test("renames a member in its place", () => {
  const after = edit.rename(REQUEST, ["query", "10"], 'a "name"');
  assert.equal(after, REQUEST.replace('"10"', '"a \\"name\\""'));
});

test("shows a value's own text, moved to the margin", () => {
  const text = edit.set("{}", ["meta", "session_context"], '{\n  "n": 1.0\n}');
  assert.equal(edit.source(text, edit.find(parse(text), ["meta", "session_context"])), '{\n  "n": 1.0\n}');
});

test("the last of equal keys counts, as for JSON.parse", () => {
  assert.equal(edit.set('{"a": 1, "a": 2}', ["a"], "3"), '{"a": 1, "a": 3}');
});

test("pointers escape slashes and tildes", () => {
  const keys = ["query", "a/b~c"];
  assert.equal(pointerOf(keys), "/query/a~1b~0c");
  assert.deepEqual(keysOf("/query/a~1b~0c"), keys);
  for (const [pointer, ...others] of [[""], ["/", ""], ["/~01", "~1"], ["/~10", "/0"], ["/0", "0"]]) {
    assert.deepEqual(keysOf(pointer), others);
    assert.equal(pointerOf(others), pointer);
  }
});

test("indents as JSON.stringify does, and keeps every digit", () => {
  for (const value of [{}, [], [[]], { a: [1, "x, {y}: z", { b: null }], c: {} }, "text", 1]) {
    assert.equal(edit.indent(JSON.stringify(value)), JSON.stringify(value, null, 2));
  }
  assert.equal(
    edit.indent('{"n":1.0,"n":12345678901234567890}'),
    '{\n  "n": 1.0,\n  "n": 12345678901234567890\n}',
  );
});
