// Completion and closing of brackets: loaded when the editor first gets the focus.

import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { completionOf } from "./completion.js";

/** The extension; `schema` returns a promise of the schema of the request. */
export const typing = (schema) => [
  closeBrackets(),
  autocompletion({ override: [completionOf(schema)], icons: false }),
  // Before the editor's own keys: Backspace between two brackets takes both.
  Prec.high(keymap.of(closeBracketsKeymap)),
];
