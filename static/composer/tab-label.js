// How an open request is shown: as a tab, and by its name.

import { icon, make } from "../site/dom.js";

const PREVIEW = "Preview: replaced by the next request you open. Double-click or press Enter to pin it.";

/** The tab of an open request: {id, name, changed, saved, preview, active}. */
export function tabOf(tab) {
  const close = make("span", { className: "open-close", "aria-hidden": "true", title: "Close (Delete)" });
  close.append(icon("close"));
  const made = make(
    "button",
    { type: "button", className: "open-tab", role: "tab", id: `open-${tab.id}`, title: titleOf(tab) },
    ...nameOf(tab),
    close,
  );
  made.dataset.id = tab.id;
  made.tabIndex = tab.active ? 0 : -1;
  made.setAttribute("aria-selected", String(tab.active));
  made.setAttribute("aria-controls", "composer-panel");
  return made;
}

const titleOf = ({ name, preview }) => (preview ? `${name}\n${PREVIEW}` : name);

/**
 * The name of a tab. What is only looked at is slanted, what is not saved has a mark; each has a
 * word, too, for those who do not see it.
 */
export function nameOf({ name, changed, saved, preview }) {
  const parts = [make(preview ? "em" : "span", { className: "open-name", dir: "auto" }, name)];
  if (preview) parts.push(make("span", { className: "visually-hidden" }, " (preview)"));
  if (changed) {
    parts.push(make("span", { className: "open-mark" }));
    parts.push(make("span", { className: "visually-hidden" }, saved ? " (unsaved changes)" : " (not saved)"));
  }
  return parts;
}
