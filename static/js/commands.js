// What can be done from anywhere: by key, by button (data-command) or from the palette.

import { announce } from "./dom.js";
import { keyText } from "./keys.js";
import { copyLink } from "./linked.js";
import { closeTab, isPreview, keepTab } from "./open-tabs.js";
import { wordsField } from "./protocols.js";
import { canPresent, togglePresentation } from "./presentation.js";
import { save, saveAs } from "./saving.js";
import { recall, remember } from "./storage.js";
import { focusTarget } from "./target.js";

const root = document.documentElement;
const composer = () => document.querySelector("request-composer");
const environment = () => document.getElementById("environment-select");
const stopButton = () => document.querySelector('[data-action="stop"]:not([disabled])');
const THEMES = ["system", "light", "dark"];

/** id, label, keys to show, whether it can be done now, and doing it. */
export const COMMANDS = [
  {
    id: "send",
    label: "Send the request",
    keys: "⌘⏎",
    can: () => composer()?.isSendable,
    run: () => composer().submit(),
  },
  { id: "stop", label: "Stop the run", keys: "Esc", can: stopButton, run: () => stopButton().click() },
  { id: "new", label: "New request", can: composer, run: newRequest },
  { id: "save", label: "Save the request", keys: "⌘S", can: composer, run: () => save() },
  { id: "save-as", label: "Save the request as…", keys: "⌘⇧S", can: composer, run: () => saveAs() },
  { id: "copy-link", label: "Copy a link to this request", can: composer, run: () => copyLink() },
  { id: "target", label: "Edit the agent or URL", can: composer, run: focusTarget },
  { id: "curl", label: "Paste a cURL command", can: composer, run: focusTarget },
  { id: "keep", label: "Keep this tab open: it is a preview", can: isPreview, run: () => keepTab() },
  { id: "close", label: "Close the request", can: composer, run: () => closeTab() },
  {
    id: "palette",
    label: "Commands",
    keys: "⌘K",
    hidden: true,
    run: () => document.querySelector("command-palette").toggle(),
  },
  {
    id: "environment",
    label: "Choose the environment",
    keys: "⌘E",
    can: environment,
    run: () => environment().focus(),
  },
  {
    id: "search",
    label: "Search the collections",
    keys: "/",
    run: () => document.querySelector("command-palette").search(),
  },
  { id: "sidebar", label: "Show or hide the sidebar", keys: "⌘\\", can: composer, run: toggleSidebar },
  {
    id: "present",
    label: "Presentation view",
    keys: "P",
    can: canPresent,
    run: togglePresentation,
  },
  { id: "theme", label: "Change the theme: system, light, dark", run: nextTheme },
  { id: "help", label: "Keys and help", keys: "?", run: () => document.getElementById("help").showModal() },
];

/** Whether a command can be carried out at the moment. */
export function isPossible(command) {
  return !command.can || Boolean(command.can());
}

function runCommand(id) {
  const command = COMMANDS.find((each) => each.id === id);
  if (command && isPossible(command)) command.run();
}

function newRequest() {
  document.getElementById("composer").dispatchEvent(new CustomEvent("composer:new"));
  document.querySelector("work-bench").show("compose");
  composer().querySelector("tab-set").show("tab-request");
  wordsField(document.getElementById("composer"))?.focus();
}

function toggleSidebar() {
  const closed = root.dataset.sidebar === "closed";
  if (closed) delete root.dataset.sidebar;
  else root.dataset.sidebar = "closed";
  remember("sidebar", closed ? "open" : "closed");
}

function nextTheme() {
  const now = THEMES.indexOf(recall("theme") ?? "system");
  const theme = THEMES[(now + 1) % THEMES.length];
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  remember("theme", theme);
  announce(`Theme: ${theme}`);
}

/** Whether a text field has the focus, one inside the code editor's shadow root too. */
function isTyping(event) {
  const [target] = event.composedPath();
  return target.closest("input, textarea, select, [contenteditable=true]") !== null;
}

function commandFor(event) {
  if (event.metaKey || event.ctrlKey) {
    if (event.altKey) return null;
    if (event.shiftKey) return event.key.toLowerCase() === "s" ? "save-as" : null;
    return { Enter: "send", k: "palette", s: "save", e: "environment", "\\": "sidebar" }[event.key] ?? null;
  }
  if (event.altKey) return null;
  if (event.key === "Escape") return mayStop(event) ? "stop" : null;
  return isTyping(event) ? null : ({ "?": "help", "/": "search", p: "present" }[event.key] ?? null);
}

/** Whether Escape has nothing nearer to close, or to leave, than the run. */
function mayStop(event) {
  if (!stopButton() || document.querySelector("dialog[open]")) return false;
  const [target] = event.composedPath();
  if (target.closest("action-panel, [popover]")) return false;
  const editor = target.getRootNode();
  if (editor instanceof ShadowRoot) return !editor.querySelector(".cm-tooltip-autocomplete, .cm-search");
  return !isTyping(event) || target.matches("#composer :is(input, textarea)");
}

// In the capture phase: the code editor would keep ⌘⏎ for itself.
document.addEventListener(
  "keydown",
  (event) => {
    const id = commandFor(event);
    if (!id) return;
    event.preventDefault();
    event.stopPropagation();
    runCommand(id);
  },
  { capture: true },
);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-command]");
  if (button) runCommand(button.dataset.command);
  const opener = event.target.closest("[data-open]");
  if (opener) openAfresh(document.getElementById(opener.dataset.open));
  if (event.target.closest('[data-action="stop"]')) keepFocus(event.target);
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
  if (event.target instanceof HTMLDialogElement) event.target.close(); // the backdrop
});

/**
 * Open a dialog without what it said the time before: nobody is to choose in, or copy from, an
 * answer that is about to be replaced.
 */
function openAfresh(dialog) {
  for (const part of dialog.querySelectorAll("[data-afresh]")) part.replaceChildren();
  dialog.showModal();
}

/** The Stop button goes with its run: the focus, where it has it, stays in the bar. */
function keepFocus(button) {
  if (button === document.activeElement) button.closest(".response-header").focus();
}

for (const key of document.querySelectorAll("kbd")) key.textContent = keyText(key.textContent);
for (const each of document.querySelectorAll('[title*="⌘"]'))
  each.title = keyText(each.title).replace("⏎", "Enter");
