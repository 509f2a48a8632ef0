// A request carried over to another protocol or another version.

import { find, set } from "./json-edit.js";
import { parse, toValue } from "./json-text.js";
import { freshText, wordsOf } from "./protocols.js";

/** A first request of another protocol, with the words of the old one. */
export function translated(old, protocol, version) {
  let words = "";
  try {
    words = wordsOf(old.protocol, toValue(parse(old.document)));
  } catch {
    // What cannot be read has no words.
  }
  return freshText(protocol, words, version);
}

/** A request that names its version in meta, for this version. */
export function versioned(text, version) {
  try {
    const named = find(parse(text), ["meta", "version"]);
    return named ? set(text, ["meta", "version"], JSON.stringify(version)) : text;
  } catch {
    return text;
  }
}

/** The fields of a request for another agent: its words, or all of it where that speaks the same. */
export function retargeted(fields, { agent, address, protocol, version, binding }) {
  const isOther = protocol !== fields.protocol;
  const document = isOther ? translated(fields, protocol, version) : moved(fields, version);
  return { ...fields, agent, address, protocol, version, binding, document };
}

/** The document for another version, which it may name in meta. */
function moved(fields, version) {
  try {
    const named = find(parse(fields.document), ["meta", "version"])?.value;
    return named === fields.version ? versioned(fields.document, version) : fields.document;
  } catch {
    return fields.document;
  }
}
