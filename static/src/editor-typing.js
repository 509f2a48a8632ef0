// What helps with typing: loaded when the editor first gets the focus.

import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { completeRequest } from "./completion.js";

export const extension = [
  closeBrackets(),
  autocompletion({ override: [completeRequest], icons: false }),
  // Before the editor's own keys: Backspace between two brackets takes both.
  Prec.high(keymap.of(closeBracketsKeymap)),
];
