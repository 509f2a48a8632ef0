import assert from "node:assert/strict";
import { test } from "node:test";
import { describedAt } from "../../static/reference/anchors.js";

const ANCHORS = {
  answer: [],
  "answer/_meta": ["response-meta"],
  "answer/_meta/response_type": [],
  "answer/results": ["item"],
  "answer/content": [],
  "answer/content/0/text": [],
  response: ["answer", "failure"],
  failure: [],
  "failure/error": [],
  "response-meta": [],
  "response-meta/version": [],
  "response-meta/openai~1outputTemplate": [],
  item: [],
  "item/actions": ["action"],
  "item/*": [],
  action: [],
  "action/name": [],
  node: [],
  "node/child": ["node"],
};
const find = (id) => ANCHORS[id] && { documents: ANCHORS[id] };

const CASES = [
  ["answer", "answer"],
  ["answer/results", "answer/results"],
  ["answer/content/7/text", "answer/content/0/text"],
  ["answer/results/3/actions/12/name", "action/name"],
  ["answer/results/3/name", "item/*"],
  ["answer/_meta/response_type", "answer/_meta/response_type"],
  ["answer/_meta/version", "response-meta/version"],
  ["answer/_meta/openai~1outputTemplate", "response-meta/openai~1outputTemplate"],
  ["response/error", "failure/error"],
  ["response/_meta/version", "response-meta/version"],
  ["failure/error/details/nested", "failure/error"],
  ["node/child/child/child", "node/child"],
  ["nothing/at/all", ""],
  ["", ""],
];

for (const [name, expected] of CASES)
  test(`the anchor of ${name || "nothing"}`, () => assert.equal(describedAt(name, find), expected));
