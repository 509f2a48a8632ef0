// A whole request in the fragment of an address, which a browser sends to nobody:
// `/#request=` and JSON, percent-encoded or as base64url, of {agent, address, protocol, binding,
// version, document, headers}. Loaded when such a link is opened or made. A link may come from
// anybody: what is not as it should be is left out, and credentials never go along.

import { withoutCredentials } from "./credentials.js";
import { PROTOCOL_NAMES } from "./protocols.js";

const PREFIX = "#request=";
/** Characters of a link, of a text in it, and how many headers there may be. */
const MAX_LINK = 200_000;
const MAX_TEXT = 2000;
const MAX_HEADERS = 100;
const BINDINGS = ["http", "mcp"];

/**
 * The composer's fields for a link, and `notes` about what was left out. Throws an Error with a
 * sentence for what is no request.
 */
export function readLink(hash) {
  if (hash.length > MAX_LINK)
    throw new Error(`The link is longer than ${MAX_LINK.toLocaleString("en")} characters.`);
  const { document, headers, ...rest } = objectOf(decoded(hash.slice(PREFIX.length)));
  if (!isObject(document)) throw new Error("The link contains no request.");
  const { kept, dropped } = withoutCredentials(pairs(headers));
  const { address, hadCredentials } = cleanAddress(textOf(rest.address));
  const notes = [...dropped, ...(hadCredentials ? ["the URL"] : [])];
  return {
    fields: {
      agent: textOf(rest.agent),
      address,
      protocol: PROTOCOL_NAMES.includes(rest.protocol) ? rest.protocol : PROTOCOL_NAMES[0],
      binding: BINDINGS.includes(rest.binding) ? rest.binding : BINDINGS[0],
      version: textOf(rest.version),
      document: JSON.stringify(document, null, 2),
      headers: JSON.stringify(kept),
    },
    notes,
  };
}

/** The address that brings these fields along. */
export function makeLink({ agent, address, protocol, binding, version, document, headers }, origin) {
  const { kept } = withoutCredentials(pairs(objectOf(headers || "[]")));
  const { address: clean } = cleanAddress(address);
  const request = { agent, address: clean, protocol, binding, version, document: objectOf(document) };
  const bytes = new TextEncoder().encode(JSON.stringify({ ...request, headers: kept }));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `${origin}/${PREFIX}${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

function decoded(text) {
  if (/^[\w-]+$/.test(text)) {
    try {
      const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
      return new TextDecoder("utf-8", { fatal: true }).decode(
        Uint8Array.from(binary, (each) => each.charCodeAt(0)),
      );
    } catch {
      return text;
    }
  }
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function objectOf(text) {
  try {
    const value = JSON.parse(text);
    if (value instanceof Object) return value;
  } catch {
    // Said below.
  }
  throw new Error("The link contains no valid JSON.");
}

const isObject = (value) => value instanceof Object && !Array.isArray(value);
const textOf = (value) => (typeof value === "string" && value.length <= MAX_TEXT ? value : "");

function pairs(headers) {
  const isPair = (pair) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
  return Array.isArray(headers) ? headers.filter(isPair).slice(0, MAX_HEADERS) : [];
}

/** An address without who logs in, and with nothing for parameters that are credentials. */
function cleanAddress(address) {
  const clean = address
    .replace(/(?:^|(?<=:\/\/))[^/?#\s]*@/, "")
    .replace(/(?<=[?&])([^=&#]*)=([^&#]*)/g, (whole, name, value) =>
      withoutCredentials([[name, value]]).dropped.length ? `${name}=` : whole,
    );
  return { address: clean, hadCredentials: clean !== address };
}
