// The text of the target: URLs as people type them, and agents by name.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isCommand, isSameUrl, matching, typedUrl } from "../../static/composer/target-url.js";

const TYPED = [
  ["localhost:9000", "http://localhost:9000"],
  ["localhost", "http://localhost"],
  ["127.0.0.1:9000/x", "http://127.0.0.1:9000/x"],
  ["[::1]:8000/mcp", "http://[::1]:8000/mcp"],
  ["agents.localhost:1", "http://agents.localhost:1"],
  [" agent.example/ask?site=a ", "https://agent.example/ask?site=a"],
  ["agent.example:8443", "https://agent.example:8443"],
  ["127.0.0.1.example", "https://127.0.0.1.example"],
  ["agent:9000", "https://agent:9000"],
  ["http://agent.example", "http://agent.example"],
  ["HTTPS://Agent.example/A", "HTTPS://Agent.example/A"],
  ["ftp://agent.example", "ftp://agent.example"],
  ["{{base}}/ask", "{{base}}/ask"],
  ["http://{{host}}/ask", "http://{{host}}/ask"],
];

test("a URL is completed by its host", () => {
  for (const [text, url] of TYPED) assert.deepEqual(typedUrl(text), { url, hadCredentials: false }, text);
});

test("a name or a sentence is no URL", () => {
  for (const text of ["", "demo", "Demo agent", "curl https://a.example", "a b.example", "/ask"])
    assert.equal(typedUrl(text), null, text);
});

test("credentials are dropped from a URL", () => {
  const found = { url: "https://a.example/x", hadCredentials: true };
  assert.deepEqual(typedUrl("https://user:pw@a.example/x"), found);
  assert.deepEqual(typedUrl("user:pw@a.example/x"), found);
  assert.equal(typedUrl("https://a.example/x:y@z").hadCredentials, false);
});

test("agents match by every word of name and URL, names that begin so first", () => {
  const agents = [
    { name: "My demo", url: "http://a.example" },
    { name: "Demo agent", url: "http://b.example/mcp" },
  ];
  const names = (text) => matching(agents, text).map(({ name }) => name);
  assert.deepEqual(names("DEMO"), ["Demo agent", "My demo"]);
  assert.deepEqual(names("demo mcp"), ["Demo agent"]);
  assert.deepEqual(names("nothing"), []);
  assert.equal(names("").length, 2);
});

test("a slash at the end makes no other URL, and a command is told apart", () => {
  assert.ok(isSameUrl("http://a.example/", "http://a.example"));
  assert.ok(!isSameUrl("http://a.example/x", "http://a.example"));
  assert.ok(isCommand("  $ curl -s http://a.example"));
  assert.ok(!isCommand("curler.example"));
});
