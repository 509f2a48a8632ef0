// The code editor of the JSON view: CodeMirror with JSON, folding and our own checks. Loaded by
// static/composer/json-editor.js, which hands in what it needs to know. What only those need who type
// or search is loaded then.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
} from "@codemirror/language";
import { linter, lintGutter } from "@codemirror/lint";
import { Annotation, EditorState, StateEffect } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { composedSchema } from "../request-schema.js";
import { parse } from "../json-text.js";
import { messageOf, problemItems } from "../problem-items.js";
import { nameAt, nameNear } from "./json-place.js";
import { problemsIn } from "./json-schema.js";
import { loadSchema } from "./schema-loader.js";
import { theme } from "./theme.js";

const fromOutside = Annotation.define();
/** The document is to be checked again although it has not changed. */
const recheck = StateEffect.define();
const LINT_DELAY_MS = 150;
/** Longer documents, in characters, are not checked against their schema. */
const MAX_CHECKED = 200_000;
const MAX_WARNINGS = 100;
/** Keys that begin a search. */
const SEARCH_KEYS = ["Mod-f", "F3", "Mod-g", "Mod-Shift-l", "Mod-Alt-g", "Mod-d"];

/**
 * Replaces a selection by what is typed. Left to itself, Chromium writes the colour of what was
 * selected into a style attribute, which our content security policy refuses.
 */
const typingOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.data;
    if (event.inputType !== "insertText" || !text || empty || event.isComposing) return false;
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});

/**
 * Puts an editor in place of `area` (a textarea, which stays in the form, hidden). `check`
 * says what is wrong with a text ({message, offset} or null); `changed` hears what is typed.
 * Returns {write(text), load(text), nameAtPoint(x, y), nameAtCaret()}: `load` begins anew, so that
 * nothing of another request can be brought back by Undo; names are {keys, from, rect()} or null.
 */
export function mount({ area, check, changed }) {
  const host = document.createElement("div");
  host.className = "code-host";
  // In a shadow root CodeMirror brings its styles as constructed sheets; in a document it
  // would write <style> elements, which our content security policy rightly refuses.
  const root = host.attachShadow({ mode: "open" });
  const { form } = area;
  let shown = null;
  const schema = () => loadSchema((shown = composedSchema(form)));
  const parts = new Parts(schema);
  const extensions = [
    ...basics(),
    json(),
    theme,
    typingOver,
    checks(check, schema),
    reports(changed),
    labels(area),
    parts.onDemand(),
  ];
  const stateOf = (doc) => EditorState.create({ doc, extensions: [...extensions, parts.loaded] });
  const view = new EditorView({ parent: root, root, state: stateOf(area.value) });
  const isTypedInto = area.matches(":focus");
  const { selectionStart: anchor, selectionEnd: head } = area;
  area.before(host);
  area.hidden = true;
  if (isTypedInto) {
    view.dispatch({ selection: { anchor, head } });
    view.focus();
  }
  form.addEventListener("composer:change", () => {
    // Another protocol, version or operation has other names.
    if (shown && shown !== composedSchema(form)) view.dispatch({ effects: recheck.of(null) });
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "effective") view.dispatch({ effects: recheck.of(null) });
  });
  return {
    write: (text) => replace(view, text),
    load: (text) => view.setState(stateOf(text)),
    nameAtPoint: (x, y) => nameAtPoint(view, x, y),
    nameAtCaret: () => placeOf(view, nameNear(view.state, view.state.selection.main.head)),
  };
}

function nameAtPoint(view, x, y) {
  const position = view.posAtCoords({ x, y });
  // A hint of what is wrong there is on the page already.
  if (position === null || view.root.querySelector(".cm-tooltip-lint")) return null;
  const place = placeOf(view, nameAt(view.state, position));
  const { left, right, top, bottom } = place?.rect() ?? {};
  return place && x >= left && x <= right && y >= top && y <= bottom ? place : null;
}

/** A name with its rectangle on the page, which has no size while it is outside of what is drawn. */
function placeOf(view, name) {
  if (!name) return null;
  const rect = () => {
    const [first, last] = [view.coordsAtPos(name.from, 1), view.coordsAtPos(name.to, -1)];
    if (!first || !last) return new DOMRect();
    return new DOMRect(first.left, first.top, last.right - first.left, last.bottom - first.top);
  };
  return { ...name, rect };
}

/** Parts of the editor that are loaded on demand, and stay whatever text is put into it. */
class Parts {
  loaded = [];
  #loading = new Map();

  constructor(schema) {
    this.schema = schema;
  }

  /** What notices the demand. */
  onDemand() {
    const binding = (key) => ({ key, run: (view) => this.#search(key, view) });
    return [
      keymap.of(SEARCH_KEYS.map(binding)),
      EditorView.domEventHandlers({
        focus: (_, view) => void this.#add("typing", () => this.#typing(), view),
      }),
    ];
  }

  async #typing() {
    const { typing } = await import("./editor-typing.js");
    return { extension: typing(this.schema) };
  }

  /** False once the search is there: its own keys do it then. */
  #search(key, view) {
    if (this.#loading.has("search")) return false;
    this.#add("search", () => import("./editor-search.js"), view).then(({ press }) => {
      if (view.hasFocus) press(key, view); // Not where somebody has gone on to another field.
    });
    return true;
  }

  async #add(name, load, view) {
    if (this.#loading.has(name)) return this.#loading.get(name);
    const loading = load();
    this.#loading.set(name, loading);
    const part = await loading;
    this.loaded.push(part.extension);
    view.dispatch({ effects: StateEffect.appendConfig.of(part.extension) });
    return part;
  }
}

function basics() {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    codeFolding(),
    foldGutter(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of("  "),
    bracketMatching(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    EditorView.clipboardInputFilter.of((text) => text.replace(/^\uFEFF/, "")),
    // Escape, then Tab leaves the editor: CodeMirror lets Tab go for two seconds after Escape.
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, indentWithTab]),
  ];
}

function checks(check, schema) {
  const diagnose = async (view) => {
    const text = view.state.doc.toString();
    const problem = check(text);
    if (!problem) return warnings(text, await schema());
    const from = Math.min(problem.offset, view.state.doc.length);
    return [{ from, to: from, severity: "error", message: problem.message }];
  };
  const needsRefresh = ({ transactions }) =>
    transactions.some(({ effects }) => effects.some((effect) => effect.is(recheck)));
  return [linter(diagnose, { delay: LINT_DELAY_MS, needsRefresh }), lintGutter()];
}

/** What the schema says is wrong; in the words of the server where that lists the same problem. */
function warnings(text, schema) {
  if (!schema || text.length > MAX_CHECKED) return [];
  const reported = new Map(problemItems().map((item) => [item.dataset.pointer, messageOf(item)]));
  return problemsIn(schema, parse(text))
    .slice(0, MAX_WARNINGS)
    .map(({ pointer, start, end, message }) => ({
      from: start,
      to: end,
      severity: "warning",
      message: reported.get(pointer) ?? message,
    }));
}

function reports(changed) {
  return EditorView.updateListener.of((update) => {
    const isOurs = update.transactions.some((each) => each.annotation(fromOutside));
    if (update.docChanged && !isOurs) changed(update.state.doc.toString());
  });
}

function labels(area) {
  return EditorView.contentAttributes.of({
    tabindex: "0",
    "aria-label": `${area.getAttribute("aria-label")}. Press Escape, then Tab to leave.`,
  });
}

/** Replaces only what differs, so that the cursor, the folds and the undo history stay. */
function replace(view, text) {
  const old = view.state.doc.toString();
  if (old === text) return;
  let from = 0;
  const shortest = Math.min(old.length, text.length);
  while (from < shortest && old[from] === text[from]) from += 1;
  let end = 0;
  while (end < shortest - from && old.at(-1 - end) === text.at(-1 - end)) end += 1;
  view.dispatch({
    changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
    annotations: fromOutside.of(true),
  });
}
