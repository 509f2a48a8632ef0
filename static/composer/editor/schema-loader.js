// Schemas of requests from the playground, each loaded once.

const loading = new Map();

/** A promise of a schema ("nlweb/0.55/ask-request"); null where there is none, or it cannot be loaded. */
export function loadSchema(name) {
  if (!loading.has(name)) {
    const address = `/schemas/${name.split("/").map(encodeURIComponent).join("/")}.json`;
    const loaded = fetch(address).then((response) => (response.ok ? response.json() : null));
    loading.set(
      name,
      loaded.catch(() => {
        loading.delete(name); // the playground is away; the next demand tries again
        return null;
      }),
    );
  }
  return loading.get(name);
}
