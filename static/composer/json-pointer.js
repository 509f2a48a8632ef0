// JSON Pointer (RFC 6901): the keys of a pointer, and the pointer of keys.

/** The keys of a JSON pointer: "/a/b~1c" is ["a", "b/c"]. */
export function keysOf(pointer) {
  const tokens = pointer.split("/").slice(1);
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The JSON pointer of a list of keys. */
export function pointerOf(keys) {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
