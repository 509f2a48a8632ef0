// A request carried over to another protocol or another version.

import { find, set } from "./json-edit.js";
import { parse, toValue } from "./json-text.js";
import { freshText, language } from "./protocols.js";

/** A first request of another protocol, with the words of the old one. */
export function translated(old, protocol, version) {
  let words = "";
  try {
    words = language(old.protocol).words(toValue(parse(old.document)));
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
