// Keyboard shortcuts as they are written on this platform: ⌘ is Ctrl where there is no such key.

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const NAMES = { Enter: "⏎", Escape: "Esc" };

/** A shortcut of the command table, as the keys of this platform are labelled. */
export function keyText(text) {
  return IS_MAC ? text : text.replace("⌘", "Ctrl ").replace("⇧", "Shift ").trim();
}

/** The shortcut of a keyboard event, as the command table writes it: "⌘⇧S", "Esc", "?"; "" for none. */
export function shortcutOf({ key, code, altKey, ctrlKey, metaKey, shiftKey }) {
  const name = NAMES[key] ?? key;
  if (altKey) return "";
  if (!metaKey && !ctrlKey) return name.length === 1 ? name.toUpperCase() : name;
  // With Shift, and on other layouts, the key of the backslash types another character.
  return `⌘${shiftKey ? "⇧" : ""}${code === "Backslash" ? "\\" : name.toUpperCase()}`;
}
