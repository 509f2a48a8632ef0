// Find and replace in the editor: loaded with the first of its keys.

import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { keymap } from "@codemirror/view";

export const extension = [search({ top: true }), highlightSelectionMatches(), keymap.of(searchKeymap)];

/** Does what a key of `searchKeymap` stands for. */
export function press(key, view) {
  searchKeymap.find((binding) => binding.key === key).run(view);
}
