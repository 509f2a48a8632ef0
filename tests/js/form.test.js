// What the fields of the form make of values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../../static/composer/json-text.js";
import { convert, kindOf } from "../../static/composer/value-kinds.js";

test("a value keeps what it can when its kind changes", () => {
  const rows = [
    ['"5"', "number", "5"],
    ["5", "text", '"5"'],
    ['"a"', "list", '["a"]'],
    ['["a", "b"]', "list", '["a","b"]'],
    ['"true"', "boolean", "true"],
    ["1", "boolean", "false"],
    ['"a"', "json", '"a"'],
    ['{"b": 1}', "text", '"{\\"b\\": 1}"'],
    ['"a"', "null", "null"],
    ["null", "text", '""'],
  ];
  for (const [raw, kind, wanted] of rows) assert.equal(convert(raw, kind), wanted, `${raw} as ${kind}`);
});

test("nothing becomes nothing but a text or null, before something is entered", () => {
  for (const raw of [null, "", '""', "null"]) {
    for (const kind of ["number", "boolean", "list", "json"]) assert.equal(convert(raw, kind), undefined);
    assert.equal(convert(raw, "text"), '""');
    assert.equal(convert(raw, "null"), "null");
  }
  assert.equal(convert('"many"', "number"), undefined);
});

test("a node is shown by the kinds that its field offers", () => {
  assert.equal(kindOf(parse('["a"]'), ["text", "list"]), "list");
  assert.equal(kindOf(parse('["a"]'), ["text"]), "json");
  assert.equal(kindOf(parse('["a", 1]'), ["list"]), "json");
  assert.equal(kindOf(parse("null"), ["text"]), "null");
  assert.equal(kindOf(parse("1.50"), ["text"]), "number");
});
