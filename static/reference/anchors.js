// Anchors of the reference: `document/pointer`, with 0 for any element and * for any other name.

/**
 * The anchor of the attribute that describes a location in a document, or of the nearest one above
 * it; "" where there is no such document. `find` returns what has an anchor: the names of the
 * documents that its value, or an element of it, may be (`documents`); nothing where nothing has it.
 */
export function describedAt(name, find) {
  const [root, ...keys] = name.split("/");
  if (!find(root)) return "";
  let places = [{ base: root, best: root }];
  for (const key of keys) {
    const below = step(places, key, find);
    if (!below.length) break;
    places = below;
  }
  return places[0].best;
}

/** The places below the given ones; `base` is the path so far, `best` the nearest anchor. */
function step(places, key, find) {
  const seen = new Set();
  const waiting = [...places];
  const found = { listed: [], elements: [], others: [] };
  while (waiting.length) {
    const { base, best } = waiting.shift();
    if (seen.has(base)) continue;
    seen.add(base);
    if (find(`${base}/${key}`)) found.listed.push({ base: `${base}/${key}`, best: `${base}/${key}` });
    else if (/^\d+$/.test(key))
      found.elements.push({ base: `${base}/0`, best: find(`${base}/0`) ? `${base}/0` : best });
    else if (find(`${base}/*`)) found.others.push({ base: `${base}/*`, best: `${base}/*` });
    // An element has no anchor where nothing is said about it: its array names the documents.
    const described = find(base) ?? (base.endsWith("/0") ? find(base.slice(0, -2)) : undefined);
    for (const document of described?.documents ?? []) waiting.push({ base: document, best: document });
  }
  return [found.listed, found.elements, found.others].find((each) => each.length) ?? [];
}
