import assert from "node:assert/strict";
import { test } from "node:test";
import { indexAt, namesIn } from "../../static/composer/json-names.js";

const TEXT = `{
  "query": {"text": "eggs", "a/b~c": 1},
  "list": [{"x": {}}, [{"y": null}]]
}`;

test("finds every name with its pointer, in order", () => {
  const found = namesIn(TEXT);
  assert.deepEqual(
    found.map(({ pointer }) => pointer),
    ["/query", "/query/text", "/query/a~1b~0c", "/list", "/list/0/x", "/list/1/0/y"],
  );
  for (const { start, end } of found) assert.match(TEXT.slice(start - 1, end + 1), /^"[^"]*"$/);
});

test("puts the pointer of the text itself before them", () => {
  assert.equal(namesIn('{"name": 1}', "/results/0")[0].pointer, "/results/0/name");
});

test("finds the name at an offset, and nothing between names", () => {
  const names = namesIn(TEXT);
  for (const [index, { start, end }] of names.entries()) {
    for (const offset of [start - 1, start, end]) assert.equal(indexAt(names, offset), index);
  }
  assert.equal(indexAt(names, 0), -1);
  assert.equal(indexAt(names, TEXT.indexOf("eggs")), -1);
  assert.equal(indexAt(names, TEXT.length), -1);
  assert.equal(indexAt([], 3), -1);
});

test("has no names for what is not JSON, is cut off or is long", () => {
  assert.deepEqual(namesIn('{"a": {{b}}}'), []);
  assert.deepEqual(namesIn('{"a": [1, 2\n… 3 more characters'), []);
  assert.deepEqual(namesIn(`{"a": "${"x".repeat(500_000)}"}`), []);
  assert.deepEqual(namesIn(""), []);
});
