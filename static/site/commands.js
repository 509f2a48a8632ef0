// Commands: what can be done from anywhere, by key, by button (data-command) or from the palette.

import { explainFocused } from "../reference/explain.js";
import { keyText, shortcutOf } from "./keys.js";
import { copyLink } from "../composer/deep-links.js";
import { closeTab, isPreview, keepTab } from "../composer/stored-tabs.js";
import { wordsField } from "../composer/protocols.js";
import { canPresent, togglePresentation } from "../conversation/presentation.js";
import { save, saveAs } from "../composer/saving.js";
import { toggleSidebar } from "./sidebar.js";
import { recall, remember } from "./storage.js";
import { focusTarget } from "../composer/target.js";
import { setTheme, themeName } from "./theme.js";

const composer = () => document.querySelector("request-composer");
const bench = () => document.querySelector("work-bench");
const environment = () => document.getElementById("environment-select");
const stopButton = () => document.querySelector('[data-action="stop"]:not([disabled])');
const run = () => document.querySelector("#response[data-run]")?.dataset.run;
const finishedRun = () => !stopButton() && run();
const savedRequest = () => document.getElementById("composer")?.elements.saved?.value;
const agent = () => document.getElementById("composer")?.elements.agent?.value;
const enabled = (selector) => document.querySelector(`${selector}:not([disabled], [hidden])`);
const go = (path) => location.assign(path);

/** A button of the page as a command: it is listed while it can be pressed. */
const press = (id, label, selector) => ({
  id,
  label,
  can: () => enabled(selector),
  run: () => enabled(selector).click(),
});

const theme = (name, label) => ({
  id: `theme-${name}`,
  label: `Theme: ${label}`,
  can: () => themeName() !== name,
  run: () => setTheme(name),
});

/** id, label, keys to press and to show, whether it can be done now (`can`), and doing it (`run`). */
export const COMMANDS = [
  {
    id: "send",
    label: "Send the request",
    keys: "⌘⏎",
    can: () => composer()?.isSendable,
    run: () => composer().submit(),
  },
  { id: "stop", label: "Stop the run", keys: "Esc", can: stopButton, run: () => stopButton().click() },
  press("send-again", "Send again", "#response [data-again]"),
  { id: "new", label: "New request", can: composer, run: newRequest },
  { id: "save", label: "Save the request", keys: "⌘S", can: composer, run: () => save() },
  { id: "save-as", label: "Save the request as…", keys: "⌘⇧S", can: composer, run: () => saveAs() },
  { id: "curl", label: "Paste a cURL command", can: composer, run: focusTarget },
  press("copy-as", "Copy as cURL, Python or JavaScript…", '[data-open="code-sheet"]'),
  press("side-by-side", "Send to two targets…", "#twin-open"),
  { id: "copy-link", label: "Copy a link to this request", can: composer, run: () => copyLink() },
  { id: "target", label: "Edit the agent or URL", can: composer, run: focusTarget },
  {
    id: "compare",
    label: "Compare with another run…",
    can: finishedRun,
    run: () => go(`/compare/?left=${run()}`),
  },
  { id: "share", label: "Share this run…", can: finishedRun, run: () => go(`/shares/new/?run=${run()}`) },
  {
    id: "export-har",
    label: "Export this run as HAR",
    can: finishedRun,
    run: () => go(`/runs/${run()}/run.har`),
  },
  {
    id: "export-fixture",
    label: "Export this collection as a fixture",
    can: savedRequest,
    run: () => go(`/collections/${savedRequest().split("/")[0]}/export/`),
  },
  {
    id: "diagnose",
    label: "Diagnose the agent’s connection",
    can: agent,
    run: () => go(`/agents/${agent()}/doctor/`),
  },
  { id: "keep", label: "Pin preview tab", can: isPreview, run: () => keepTab() },
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
  {
    id: "sidebar",
    label: "Show or hide the sidebar",
    keys: "⌘\\",
    can: () => document.getElementById("sidebar"),
    run: toggleSidebar,
  },
  {
    id: "composer",
    label: "Show or hide the composer",
    keys: "⌘⇧\\",
    can: () => bench()?.isWide,
    run: () => bench().toggleComposer(),
  },
  {
    id: "follow-up",
    label: "Ask a follow-up",
    keys: "F",
    can: () => document.getElementById("follow-up-text"),
    run: () => {
      bench()?.show("outcome");
      document.querySelector("#response tab-set").show("tab-results");
      document.getElementById("follow-up-text").focus();
    },
  },
  {
    id: "present",
    label: "Presentation view",
    keys: "P",
    can: canPresent,
    run: togglePresentation,
  },
  { id: "explain", label: "Explain the focused name", keys: "F1", hidden: true, run: () => explainFocused() },
  theme("system", "System"),
  theme("light", "Light"),
  theme("dark", "Dark"),
  {
    id: "help",
    label: "Keyboard shortcuts and help",
    keys: "?",
    run: () => document.getElementById("help").showModal(),
  },
];

/** Whether a command can be carried out at the moment. */
export function isPossible(command) {
  return !command.can || Boolean(command.can());
}

/** Runs a command, if it can be carried out; returns whether it could. */
function runCommand(id) {
  const command = COMMANDS.find((each) => each.id === id);
  const isRun = Boolean(command) && isPossible(command);
  if (isRun) command.run();
  return isRun;
}

function newRequest() {
  document.getElementById("composer").dispatchEvent(new CustomEvent("composer:new"));
  bench().show("compose");
  composer().querySelector("tab-set")?.show("tab-request");
  wordsField(document.getElementById("composer"))?.focus();
}

/** Whether a text field has the focus, one inside the code editor's shadow root too. */
function isTyping(event) {
  const [target] = event.composedPath();
  return target.closest("input, textarea, select, [contenteditable=true]") !== null;
}

function commandFor(event) {
  const keys = shortcutOf(event);
  const command = keys && COMMANDS.find((each) => each.keys === keys);
  if (!command) return null;
  if (keys === "Esc") return mayStop(event) ? command.id : null;
  return keys.startsWith("⌘") || keys === "F1" || !isTyping(event) ? command.id : null;
}

/** Whether Escape has nothing nearer to close, or to leave, than the run. */
function mayStop(event) {
  if (!stopButton() || document.querySelector("dialog[open], :popover-open")) return false;
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
  const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey;
  // A link that is a command leads somewhere where the command cannot be carried out.
  if (button && isPlain && runCommand(button.dataset.command)) event.preventDefault();
  const fold = event.target.closest("[data-fold]");
  if (fold) toggleFold(fold);
  const opener = event.target.closest("button[data-open]");
  if (opener) openAfresh(document.getElementById(opener.dataset.open));
  if (event.target.closest('[data-action="stop"]')) keepFocus(event.target);
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
  if (event.target instanceof HTMLDialogElement) event.target.close(); // the backdrop
});

/** Opens a dialog without its previous content, which is about to be replaced. */
function openAfresh(dialog) {
  for (const part of dialog.querySelectorAll("[data-afresh]")) part.replaceChildren();
  dialog.showModal();
}

/** Keeps the focus in the bar when the Stop button, which has it, disappears with its run. */
function keepFocus(button) {
  if (button === document.activeElement) button.closest(".response-header")?.focus();
}

function toggleFold(button) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  remember(`fold.${button.dataset.fold}`, open ? "closed" : "open");
}

// A low window has no room for both the fields and the effective request.
const isLow = matchMedia("(height < 500px)").matches;
for (const button of document.querySelectorAll("[data-fold]")) {
  const initial = isLow && !button.closest("#sidebar") ? "closed" : "open";
  const state = recall(`fold.${button.dataset.fold}`) ?? initial;
  if (state === "closed") button.setAttribute("aria-expanded", "false");
}
delete document.documentElement.dataset.folded; // boot.js folds the sidebar until then.

for (const key of document.querySelectorAll("kbd")) key.textContent = keyText(key.textContent);
for (const each of document.querySelectorAll('[title*="⌘"]'))
  each.title = keyText(each.title).replace("⏎", "Enter");
