// Which headers carry credentials, by the words of their names: the rule of the server
// (playground/protocols/headers.py), for what is kept in this window alone.

const WORDS = new Set(
  (
    "accesskey accesstoken apikey auth authorization authtoken cookie cookie2 credential credentials jwt " +
    "key keys passphrase passwd password secret secretkey secrets session sessionid signature token tokens"
  ).split(" "),
);

/** Headers as JSON text, with the credentials among those of another such text. */
export function mergeCredentials(text, other) {
  try {
    const headers = JSON.parse(text || "[]");
    const names = new Set(headers.map(([name]) => name.toLowerCase()));
    const missing = JSON.parse(other || "[]").filter(
      ([name]) => isCredential(name) && !names.has(name.toLowerCase()),
    );
    return JSON.stringify([...headers, ...missing]);
  } catch {
    return text;
  }
}

function isCredential(name) {
  const lower = name.toLowerCase();
  return (
    lower !== "mcp-session-id" &&
    lower
      .replaceAll("_", "-")
      .split("-")
      .some((word) => WORDS.has(word))
  );
}
