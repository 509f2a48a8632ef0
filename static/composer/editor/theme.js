// The editor in the page's own colours: every value is a token of static/site/tokens.css, so
// that it follows the theme without a second definition.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const frame = EditorView.theme({
  "&": {
    height: "100%",
    fontSize: "var(--text-code)",
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
  },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--accent-ink)", paddingBlock: "8px" },
  ".cm-cursor": { borderLeftColor: "var(--accent-ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line-active)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--selection-match)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)", outline: "none" },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--sunken)",
    border: "none",
    color: "var(--ink-soft)",
    padding: "0 6px",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 8px" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "20rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "4px 6px",
    padding: "6px 32px 6px 8px",
    fontFamily: "var(--font-sans)",
    "& br": { flexBasis: "100%", content: "''" },
    "& input, & button, & label": { margin: 0, minHeight: "1.75rem", fontSize: "var(--text-small)" },
    "& label": { display: "inline-flex", alignItems: "center", gap: "4px" },
    "& input[type=checkbox]": { minHeight: "auto", accentColor: "var(--accent)" },
    "& [name=close]": { top: "6px", right: "4px", width: "1.75rem", cursor: "pointer", color: "inherit" },
  },
  ".cm-textfield": {
    flex: "1 1 9rem",
    padding: "2px 8px",
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
  },
  ".cm-button": {
    padding: "2px 8px",
    color: "var(--ink)",
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    cursor: "pointer",
  },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: [tags.bool, tags.null], color: "var(--code-word)" },
  { tag: [tags.separator, tags.squareBracket, tags.brace], color: "var(--ink-soft)" },
]);

export const theme = [frame, syntaxHighlighting(colours)];
