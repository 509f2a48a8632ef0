// How keys are written on this system: ⌘ is Ctrl where there is no such key.

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

export function keyText(text) {
  return IS_MAC ? text : text.replace("⌘", "Ctrl ").replace("⇧", "Shift ").trim();
}
