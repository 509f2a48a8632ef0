// What the page remembers. Storage can be switched off in a browser: then nothing is kept.

export function remember(key, value, storage = localStorage) {
  try {
    storage.setItem(`playground.${key}`, value);
  } catch {
    // Not kept; the page works all the same.
  }
}

export function forget(key, storage = localStorage) {
  try {
    storage.removeItem(`playground.${key}`);
  } catch {
    // Nothing was kept.
  }
}

export function recall(key, storage = localStorage) {
  try {
    return storage.getItem(`playground.${key}`);
  } catch {
    return null;
  }
}
