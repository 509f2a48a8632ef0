// Places of a page that have an explanation: elements with `data-explain`, names in JSON with
// `data-explain-document`, names in the code editor. A place is {reference, element, rect(), key}; the
// key tells two places apart.

import { composedSchema } from "../composer/request-schema.js";
import { indexAt, namesIn } from "../composer/json-names.js";
import { pointerOf } from "../composer/json-pointer.js";

const EXPLAINED = "[data-explain], [data-explain-document]";
const namesOf = new WeakMap();

/** The place at a point of the page, null for none. */
export function placeAtPoint(target, x, y) {
  const element = target.closest?.(`${EXPLAINED}, .code-host`);
  if (!element) return null;
  if (element.matches(".code-host")) return editorPlace(element, (editor) => editor.nameAtPoint(x, y));
  if ("explain" in element.dataset) return elementPlace(element);
  const offset = offsetAtPoint(element, x, y);
  return offset === null ? null : namePlace(element, indexAt(names(element), offset));
}

/** The place that belongs to what has the focus; else the next one after it. */
export function placeOfFocus() {
  const focused = document.activeElement ?? document.body;
  if (focused.matches(".code-host")) return editorPlace(focused, (editor) => editor.nameAtCaret());
  const own =
    focused.closest(EXPLAINED) ??
    [...(focused.labels ?? [])].find((label) => label.matches(EXPLAINED)) ??
    focused.closest("json-field, .row")?.querySelector("[data-explain]") ??
    (focused === document.body ? null : [...focused.querySelectorAll(EXPLAINED)].find(isShown));
  if (own) return firstOf(own, 1, selectionIn(own)) ?? step({ element: own }, 1);
  return step({ element: focused }, 1);
}

/** The next place (`by` is 1) or the previous one (-1) on the same part of the page; null for none. */
export function step(place, by) {
  const { element, reference } = place;
  const inside = "index" in place && names(element)[place.index + by];
  if (inside) return namePlace(element, place.index + by);
  const all = [...scopeOf(element).querySelectorAll(EXPLAINED)];
  const after = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const rest = all.filter((each) => each !== element && element.compareDocumentPosition(each) & after);
  if (by < 0) rest.reverse();
  for (const each of rest) {
    const found = isShown(each) && firstOf(each, by);
    if (found && found.reference !== reference) return found;
  }
  return null;
}

/**
 * The complete reference of an element, "nlweb/0.55/answer#/results"; "" for none. Without a schema
 * ("#/query") it is in the request of the composer, with a name only ("item#/grounding") it is in a
 * schema of the protocol and version that an element around it has.
 */
function completeReference(element, reference) {
  const [schema, pointer = ""] = reference.split(/#(.*)/s);
  if (schema.includes("/")) return reference;
  if (!schema) {
    const form = element.closest("form#composer");
    return form ? `${composedSchema(form)}#${pointer}` : "";
  }
  const base = element.closest("[data-explain-base]")?.dataset.explainBase;
  return base ? `${base}/${schema}#${pointer}` : "";
}

function scopeOf(element) {
  if (!element.isConnected) return document.body;
  return element.closest("dialog[open], .pane, .page, main") ?? document.body;
}

const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

/** The first place of an element, or its last one; in JSON, the name at an offset if there is one. */
function firstOf(element, by, offset = null) {
  if ("explain" in element.dataset) return elementPlace(element);
  const at = offset === null ? -1 : indexAt(names(element), offset);
  return namePlace(element, at >= 0 ? at : by > 0 ? 0 : names(element).length - 1);
}

function elementPlace(element) {
  const reference = completeReference(element, element.dataset.explain);
  return reference && { reference, element, key: element, rect: () => element.getBoundingClientRect() };
}

function namePlace(element, index) {
  const name = names(element)[index];
  if (!name) return null;
  const reference = nameReference(element, name.pointer);
  if (!reference) return null;
  const range = rangeOf(element, name);
  return {
    reference,
    element,
    index,
    range,
    key: name,
    rect: () => range.getBoundingClientRect(),
  };
}

/**
 * The reference of a name in a document. A document in it has another schema: `data-explain-inner` has its
 * pointer and its reference.
 */
function nameReference(element, pointer) {
  const { explainDocument, explainInner = "" } = element.dataset;
  const [at, inner] = explainInner.split(" ");
  if (at && pointer.startsWith(`${at}/`)) return completeReference(element, inner + pointer.slice(at.length));
  const [schema] = completeReference(element, explainDocument).split("#");
  return schema && `${schema}#${pointer}`;
}

function editorPlace(host, find) {
  const { editor } = host.closest("json-editor") ?? {};
  const found = editor && find(editor);
  if (!found) return null;
  const reference = completeReference(host, `#${pointerOf(found.keys)}`);
  return { reference, element: host, key: `${reference} ${found.from}`, rect: found.rect };
}

/** The names in a block of JSON, read again when its text has changed. */
function names(block) {
  const text = block.textContent;
  const known = namesOf.get(block);
  if (known?.text === text) return known.names;
  const [, base = ""] = block.dataset.explainDocument.split(/#(.*)/s);
  const found = namesIn(text, base);
  namesOf.set(block, { text, names: found });
  return found;
}

function offsetAtPoint(block, x, y) {
  // Safari and older Chromium only have the second one.
  const caret = document.caretPositionFromPoint?.(x, y);
  const range = caret ? null : document.caretRangeFromPoint?.(x, y);
  const [node, offset] = caret
    ? [caret.offsetNode, caret.offset]
    : [range?.startContainer, range?.startOffset];
  if (!node || !block.contains(node)) return null;
  return offsetIn(block, node, offset);
}

function selectionIn(block) {
  const { anchorNode: node, anchorOffset: offset } = getSelection();
  return node && block.contains(node) ? offsetIn(block, node, offset) : null;
}

function offsetIn(block, node, offset) {
  const range = document.createRange();
  range.setStart(block, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

function rangeOf(block, { start, end }) {
  const range = document.createRange();
  const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    if (start >= before && start <= before + node.length) range.setStart(node, start - before);
    if (end <= before + node.length) {
      range.setEnd(node, end - before);
      break;
    }
    before += node.length;
  }
  return range;
}
