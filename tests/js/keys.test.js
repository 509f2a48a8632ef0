// Shortcuts of keyboard events, as the command table writes them.

import assert from "node:assert/strict";
import { test } from "node:test";

// Node 20 has no navigator.
globalThis.navigator ??= { platform: "Linux x86_64" };
const { shortcutOf } = await import("../../static/site/keys.js");

const cases = [
  [{ key: "Enter", ctrlKey: true }, "⌘⏎"],
  [{ key: "k", metaKey: true }, "⌘K"],
  [{ key: "S", ctrlKey: true, shiftKey: true }, "⌘⇧S"],
  [{ key: "\\", code: "Backslash", ctrlKey: true }, "⌘\\"],
  // With Shift, and on other layouts, the key types another character.
  [{ key: "|", code: "Backslash", ctrlKey: true, shiftKey: true }, "⌘⇧\\"],
  [{ key: "#", code: "Backslash", ctrlKey: true }, "⌘\\"],
  [{ key: "?", shiftKey: true }, "?"],
  [{ key: "/" }, "/"],
  [{ key: "Escape" }, "Esc"],
  // AltGr types characters.
  [{ key: "\\", ctrlKey: true, altKey: true }, ""],
];

for (const [event, shortcut] of cases)
  test(`${JSON.stringify(event)} is ${shortcut || "no shortcut"}`, () => {
    assert.equal(shortcutOf(event), shortcut);
  });
