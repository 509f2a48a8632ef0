// URLs as people type them, and the agents that match a text.

/** A host, with a port and a path after it. Names without a dot need a port, but for localhost. */
const HOST = /^(?:localhost|\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d{1,5})?(?:[/?#]\S*)?$/iu;
const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d+){1,3}|0\.0\.0\.0|\[::1\])(?=[:/?#]|$)/i;
const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;

/**
 * A typed URL as {url, hadCredentials}; null for a text that is none. Without a scheme it is
 * http:// for this machine, and https:// for other hosts; a user name and password are dropped.
 */
export function typedUrl(text) {
  const typed = text.trim();
  if (typed.startsWith("{{")) return { url: typed, hadCredentials: false };
  const [, login = "", rest] = /^([^@/?#\s]*:[^@/?#\s]*@)?(.*)$/s.exec(typed.replace(SCHEME, ""));
  if (!SCHEME.test(typed) && !HOST.test(rest)) return null;
  const scheme = SCHEME.exec(typed)?.[0] ?? (LOOPBACK.test(rest) ? "http://" : "https://");
  return { url: scheme + rest, hadCredentials: Boolean(login) };
}

/** Whether a text is a cURL command. */
export const isCommand = (text) => /^\s*\$?\s*curl\s/.test(text);

/** Whether two texts are the same URL, but for a slash at the end. */
export const isSameUrl = (one, other) => one.replace(/\/$/, "") === other.replace(/\/$/, "");

/** The agents that have every word of a text in their name or URL, those whose name begins so first. */
export function matching(agents, text) {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = agents.filter(({ name, url }) =>
    words.every((word) => `${name} ${url}`.toLowerCase().includes(word)),
  );
  const rank = ({ name }) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return found.toSorted((one, other) => rank(one) - rank(other));
}
