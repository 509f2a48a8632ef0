// JSON Schema (2020-12) for the editor: which names and values a place may have, and what is wrong with
// a document. It reads the keywords that the playground's schemas use. Documents are trees as
// static/composer/json-text.js reads them; without a tree, all alternatives of a schema count.

import { pointerOf } from "../json-pointer.js";
import { toValue } from "../json-text.js";

const VARIABLE = /\{\{[^{}]*\}\}/;
/** Most schemas that apply to one value; schemas may refer to themselves. */
const MAX_SCHEMAS = 200;
const TYPE_NAMES = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  null: "null",
  array: "an array",
  object: "an object",
};

/** The names that an object at `keys` may have: {name, text, isRequired} each. */
export function namesAt(root, keys, tree) {
  const names = new Map();
  const schemas = schemasAt(root, keys, tree);
  const required = new Set(schemas.flatMap((schema) => schema.required ?? []));
  for (const schema of schemas) {
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      const text = names.get(name)?.text || describe(root, each);
      names.set(name, { name, text, isRequired: required.has(name) });
    }
  }
  return [...names.values()];
}

/** The values that a place may have: {value, text, isExample} each, those of the specification first. */
export function valuesAt(root, keys, tree) {
  const values = new Map();
  const schemas = schemasAt(root, keys, tree);
  const add = (value, text = "", isExample = false) => {
    const raw = JSON.stringify(value);
    if (!values.has(raw)) values.set(raw, { value, text, isExample });
  };
  for (const schema of schemas) {
    for (const [value, text] of Object.entries(schema["x-values"] ?? {})) {
      add(valueNamed(value, schema), text);
    }
  }
  for (const schema of schemas) {
    for (const value of schema.enum ?? []) add(value);
    if ("const" in schema) add(schema.const);
    if ("default" in schema) add(schema.default, "Default");
    if (typesOf(schema).includes("boolean")) for (const value of [true, false]) add(value);
    for (const value of schema.examples ?? []) add(value, "", true);
  }
  for (const type of new Set(schemas.flatMap(typesOf))) {
    if (type === "object") add({});
    if (type === "array") add([]);
    if (type === "null") add(null);
  }
  return [...values.values()];
}

/** The value that a key of `x-values` means: keys are texts, and the value may be of another type. */
function valueNamed(key, schema) {
  const types = typesOf(schema);
  const known = [...(schema.enum ?? []), ...(schema.examples ?? []), true, false];
  const found = known.find((each) => String(each) === key);
  if (typeof found === "boolean" && types.includes("string") && !types.includes("boolean")) return key;
  if (found !== undefined) return found;
  return types.some((type) => type === "number" || type === "integer") ? Number(key) : key;
}

/** Problems of a document: {pointer, start, end, message} each, at most one for each place. */
export function problemsIn(root, tree) {
  const found = new Map();
  for (const problem of check(root, root, tree, [])) {
    const { pointer, start, message } = problem;
    const key = `${pointer} ${start} ${message}`;
    if (!found.has(key)) found.set(key, problem);
  }
  return [...found.values()];
}

// --- the schemas of a place -------------------------------------------------------------------

/** All schemas that apply to the value at `keys`. */
function schemasAt(root, keys, tree) {
  let schemas = expand(root, [root], tree);
  let node = tree;
  for (const key of keys) {
    node = child(node, key);
    schemas = expand(
      root,
      schemas.flatMap((schema) => childSchema(schema, key)),
      node,
    );
  }
  return schemas;
}

const isSchema = (value) => value instanceof Object && !Array.isArray(value);

function childSchema(schema, key) {
  const { properties = {}, items, additionalProperties } = schema;
  if (Object.hasOwn(properties, key)) return [properties[key]];
  if (/^\d+$/.test(key) && isSchema(items)) return [items];
  return isSchema(additionalProperties) ? [additionalProperties] : [];
}

/** The schemas together with those that they combine and refer to. */
function expand(root, schemas, node) {
  const all = [];
  const waiting = [...schemas];
  while (waiting.length && all.length < MAX_SCHEMAS) {
    const schema = waiting.shift();
    if (!isSchema(schema)) continue;
    all.push(schema);
    if (schema.$ref) waiting.push(target(root, schema.$ref));
    for (const keyword of ["allOf", "anyOf", "oneOf"]) waiting.push(...(schema[keyword] ?? []));
    if (!schema.if) continue;
    const isHolding = node && fits(root, schema.if, node);
    if (isHolding !== false) waiting.push(schema.then);
    if (!isHolding) waiting.push(schema.else);
  }
  return all;
}

function target(root, reference) {
  return reference
    .replace(/^#\/?/, "")
    .split("/")
    .filter(Boolean)
    .reduce((schema, key) => schema?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

function child(node, key) {
  if (node?.type === "array") return node.items[Number(key)];
  return node?.members?.findLast((member) => member.key === String(key))?.value;
}

function describe(root, schema) {
  return expand(root, [schema]).find(({ description }) => description)?.description ?? "";
}

const typesOf = ({ type = [] }) => [type].flat();

// --- validation -------------------------------------------------------------------------------

const fits = (root, schema, node) => check(root, schema, node, []).next().done;

function* check(root, schema, node, keys) {
  if (schema === false) yield problem(node, keys, "This is not allowed here.");
  if (!isSchema(schema)) return;
  // What a variable becomes is not known before it is substituted.
  if (node.type === "string" && VARIABLE.test(node.value)) return;
  if (schema.$ref) yield* check(root, target(root, schema.$ref), node, keys);
  yield* checkValue(schema, node, keys);
  if (node.type === "object") yield* checkObject(root, schema, node, keys);
  if (node.type === "array") yield* checkArray(root, schema, node, keys);
  yield* checkCombined(root, schema, node, keys);
}

function* checkValue(schema, node, keys) {
  const { type, minimum, maximum, minLength, maxLength, pattern } = schema;
  if (type && !typesOf(schema).some((each) => isOf(node, each))) {
    yield { ...problem(node, keys, `Expected ${listed(typesOf(schema))}.`), isType: true };
    return;
  }
  if (schema.enum && !schema.enum.some((each) => same(each, toValue(node))))
    yield problem(
      node,
      keys,
      `Expected one of: ${schema.enum.map((each) => JSON.stringify(each)).join(", ")}.`,
    );
  if ("const" in schema && !same(schema.const, toValue(node)))
    yield problem(node, keys, `Expected ${JSON.stringify(schema.const)}.`);
  if (node.type === "number") {
    if (node.value < minimum) yield problem(node, keys, `The minimum is ${minimum}.`);
    if (node.value > maximum) yield problem(node, keys, `The maximum is ${maximum}.`);
  }
  if (node.type !== "string") return;
  const { length } = [...node.value];
  if (length < minLength) yield problem(node, keys, tooShort(minLength));
  else if (pattern && !new RegExp(pattern, "u").test(node.value))
    yield problem(node, keys, pattern === "\\S" ? tooShort(1) : `Expected a text that matches ${pattern}.`);
  if (length > maxLength) yield problem(node, keys, `The text is longer than ${maxLength} characters.`);
}

function* checkObject(root, schema, node, keys) {
  const { required = [], properties = {}, additionalProperties } = schema;
  const names = new Set(node.members.map(({ key }) => key));
  for (const name of required) {
    if (names.has(name)) continue;
    const place = { start: node.start, end: node.start + 1 };
    yield problem(place, [...keys, name], `“${name}” is required.`);
  }
  for (const name of names) {
    const path = [...keys, name];
    const each = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (each !== undefined) yield* check(root, each, child(node, name), path);
  }
}

function* checkArray(root, { items, minItems, maxItems }, node, keys) {
  const { length } = node.items;
  if (length < minItems) yield problem(node, keys, `Expected at least ${counted(minItems)}.`);
  if (length > maxItems) yield problem(node, keys, `Expected at most ${counted(maxItems)}.`);
  if (items === undefined) return;
  for (const [index, item] of node.items.entries()) yield* check(root, items, item, [...keys, index]);
}

function* checkCombined(root, schema, node, keys) {
  for (const each of schema.allOf ?? []) yield* check(root, each, node, keys);
  if (schema.anyOf) yield* checkAny(root, schema.anyOf, node, keys);
  if (schema.oneOf) {
    const many = schema.oneOf.filter((each) => fits(root, each, node)).length;
    if (many > 1) yield problem(node, keys, "This fits several forms, of which only one is allowed.");
    if (many === 0) yield* checkAny(root, schema.oneOf, node, keys);
  }
  if (schema.not && fits(root, schema.not, node)) yield problem(node, keys, "This is not allowed here.");
  if (schema.if) {
    const branch = fits(root, schema.if, node) ? schema.then : schema.else;
    if (branch !== undefined) yield* check(root, branch, node, keys);
  }
}

/** The problems of the alternative that fits best; of all types together where the type is wrong. */
function* checkAny(root, alternatives, node, keys) {
  const tries = alternatives.map((each) => [...check(root, each, node, keys)]);
  if (tries.some((problems) => !problems.length)) return;
  const pointer = pointerOf(keys);
  const isWrongType = (problems) => problems.some((each) => each.isType && each.pointer === pointer);
  const close = tries.filter((problems) => !isWrongType(problems));
  if (close.length) {
    yield* close.toSorted((one, other) => one.length - other.length)[0];
    return;
  }
  const types = new Set(alternatives.flatMap((each) => expand(root, [each], node).flatMap(typesOf)));
  yield { ...problem(node, keys, `Expected ${listed([...types])}.`), isType: true };
}

const problem = ({ start, end }, keys, message) => ({ pointer: pointerOf(keys), start, end, message });

function isOf(node, type) {
  return node.type === (type === "integer" ? "number" : type) && (type !== "integer" || isWhole(node.value));
}

const isWhole = (value) => Number.isInteger(value);
const tooShort = (least) => (least === 1 ? "Enter a text." : `Expected at least ${least} characters.`);
const counted = (count) => `${count} item${count === 1 ? "" : "s"}`;

function listed(types) {
  const words = types.map((type) => TYPE_NAMES[type] ?? type);
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : words[0];
}

/** Whether two JSON values are equal, whatever the order of members. */
function same(one, other) {
  if (!(one instanceof Object) || !(other instanceof Object)) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => same(one[name], other[name]));
}
