// Numbers that JavaScript cannot hold, on their way through the form of expectations.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Digits, parse, stringify } from "../../static/verdicts/exact-json.js";

test("numbers keep their digits", () => {
  for (const text of [
    "9007199254740993",
    "-12345678901234567890",
    "1.0",
    "2.50e+400",
    "-0",
    '[{"equals":9007199254740993,"other":1.5}]',
  ])
    assert.equal(stringify(parse(text)), text);
});

test("whatever else is as JSON.parse reads it", () => {
  for (const text of [
    "null",
    "7",
    "-2.5",
    '"9007199254740993"',
    '{"a":[true,{"b":""}],"__proto__":1}',
    " [] ",
  ])
    assert.deepEqual(parse(text), JSON.parse(text));
  assert.equal(stringify(undefined), undefined);
});

test("a number of digits reads as they were typed", () => {
  assert.equal(String(parse("9007199254740993")), "9007199254740993");
  assert.ok(parse("[1.0]")[0] instanceof Digits);
});

test("what is written in lines is as JSON.stringify writes it", () => {
  const value = { list: [1, 2], none: {}, text: '\\ "12"' };
  assert.equal(stringify(value, 2), JSON.stringify(value, null, 2));
  assert.equal(stringify(parse('{"n":1.0}'), 2), '{\n  "n": 1.0\n}');
});

test("what is no JSON says where", () => {
  assert.throws(() => parse("[1,]"), { line: 1, column: 4 });
});
