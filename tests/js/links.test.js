// Requests in the fragment of an address: from anybody, and without credentials.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { withoutCredentials } from "../../static/js/credentials.js";
import { makeLink, readLink } from "../../static/js/links.js";

const REQUEST = {
  agent: "demo",
  address: "https://agent.example/a",
  protocol: "nlweb",
  binding: "mcp",
  version: "0.54",
  document: '{"query": {"text": "crème brûlée 🍮"}}',
  headers: '[["X-A", "b"]]',
};
const hashOf = (value) => `#request=${encodeURIComponent(JSON.stringify(value))}`;

test("what a link brings is what it was made of", () => {
  const link = makeLink(REQUEST, "http://127.0.0.1:8000");
  assert.match(link, /^http:\/\/127\.0\.0\.1:8000\/#request=[\w-]+$/);
  const { fields, notes } = readLink(new URL(link).hash);
  assert.deepEqual(notes, []);
  assert.deepEqual(JSON.parse(fields.document), JSON.parse(REQUEST.document));
  assert.deepEqual(JSON.parse(fields.headers), [["X-A", "b"]]);
  for (const name of ["agent", "address", "protocol", "binding", "version"])
    assert.equal(fields[name], REQUEST[name]);
});

test("percent-encoded JSON is read, too", () => {
  const { fields } = readLink(hashOf({ document: { query: { text: "%" } } }));
  assert.deepEqual(JSON.parse(fields.document), { query: { text: "%" } });
  assert.deepEqual([fields.agent, fields.protocol, fields.binding], ["", "nlweb", "http"]);
});

test("credentials go along neither way", () => {
  const headers = [
    ["Authorization", "Bearer literal"],
    ["x-api_key", "literal"],
    ["X-Token", "{{token}}"],
    ["Mcp-Session-Id", "kept"],
  ];
  const address = "https://me:literal@literal@agent.example/?q=a@b&api_key=literal&token={{token}}";
  const made = makeLink({ ...REQUEST, address, headers: JSON.stringify(headers) }, "");
  assert.doesNotMatch(Buffer.from(made.split("=")[1], "base64url").toString(), /literal/);
  const { fields, notes } = readLink(hashOf({ address, document: {}, headers }));
  assert.deepEqual(JSON.parse(fields.headers), headers.slice(2));
  assert.equal(fields.address, "https://agent.example/?q=a@b&api_key=&token={{token}}");
  assert.deepEqual(notes, ["Authorization", "x-api_key", "the URL"]);
});

test("what is no request is refused with a sentence", () => {
  const bad = [
    "",
    "{",
    "%",
    "%7B",
    "bm9uZQ",
    hashOf([]).slice(9),
    hashOf({}).slice(9),
    hashOf({ document: [] }).slice(9),
  ];
  for (const text of bad) assert.throws(() => readLink(`#request=${text}`), /^Error: The link contains no/);
  assert.throws(() => readLink(`#request=${"a".repeat(200_001)}`), /longer than 200,000 characters/);
});

test("what is not as it should be is left out", () => {
  const odd = {
    agent: 7,
    address: { toString: "x" },
    protocol: "__proto__",
    binding: "pigeon",
    version: "v".repeat(2001),
    document: { a: 1 },
    headers: [["a"], "b", ["c", 1], ["d", "e"], null],
  };
  const { fields } = readLink(hashOf(odd));
  assert.deepEqual(fields, {
    agent: "",
    address: "",
    protocol: "nlweb",
    binding: "http",
    version: "",
    document: JSON.stringify({ a: 1 }, null, 2),
    headers: '[["d","e"]]',
  });
});

test("the words of credentials are those of the server", () => {
  const server = readFileSync("playground/protocols/headers.py", "utf8");
  const [, block] = /_CREDENTIAL_WORDS = frozenset\(([^)]*)\.split/.exec(server);
  const words = block.replaceAll('"', "").trim().split(/\s+/);
  assert.ok(words.length > 20);
  for (const word of words) assert.deepEqual(withoutCredentials([[`X-${word}`, "v"]]).kept, [], word);
  const plain = [
    ["X-Trace", "v"],
    ["Monkey", "v"],
    ["mcp-session-id", "v"],
  ];
  assert.deepEqual(withoutCredentials(plain).kept, plain);
});
