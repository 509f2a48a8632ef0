// Which headers carry credentials, in the browser as on the server.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { mergeCredentials } from "../../static/composer/credentials.js";

const merged = (headers) => JSON.parse(mergeCredentials("[]", JSON.stringify(headers)));

test("the words of credentials are those of the server", () => {
  const server = readFileSync("playground/protocols/headers.py", "utf8");
  const [, block] = /_CREDENTIAL_WORDS = frozenset\(([^)]*)\.split/.exec(server);
  const words = block.replaceAll('"', "").trim().split(/\s+/);
  assert.ok(words.length > 20);
  for (const word of words) assert.deepEqual(merged([[`X-${word}`, "v"]]), [[`X-${word}`, "v"]], word);
  const plain = ["X-Trace", "Monkey", "mcp-session-id"].map((name) => [name, "v"]);
  assert.deepEqual(merged(plain), []);
});
