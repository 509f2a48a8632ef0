// The transcript of a conversation in the response pane: rows that open in place, the choice of a
// turn by link or picker, and where focus and scroll position are after the pane was replaced.

import { giveFocus } from "../site/focus.js";
import { showTurn } from "../composer/stored-tabs.js";

const MAX_TITLE = 60;
/** Pixels above the chosen turn after a follow-up: the row before it stays in view. */
const LEAD = 44;

const pane = () => document.getElementById("response");
const scroller = () => document.querySelector("#tab-results [data-scroller]");

/** Entries that were fetched, with whether their turn had ended by then. */
const loaded = new WeakMap();

/** Fetches the entries of a turn when its row is opened, and again if it was in progress then. */
function loadEntries(fold) {
  const entries = fold.querySelector(".turn-entries");
  const hasEnded = !("unfinished" in fold.closest(".turn").dataset);
  if (!fold.open || loaded.get(entries) === true || loaded.get(entries) === hasEnded) return;
  loaded.set(entries, hasEnded);
  window.htmx
    .ajax("GET", fold.dataset.url, { source: entries, target: entries, swap: "innerHTML" })
    .catch(() => loaded.delete(entries));
}

document.addEventListener(
  "toggle",
  ({ target }) => target.matches?.(".turn-fold") && loadEntries(target),
  true,
);
document.addEventListener("run:progress", () => {
  for (const fold of document.querySelectorAll(".turn-fold[open]")) loadEntries(fold);
});

/** What is to be restored once the pane was replaced. */
let before = {};

/** Shows a turn: its row stays where it is on the screen, and so does the tab that is open. */
async function choose(place) {
  const row = document.getElementById(`turn-${/runs\/([^/]+)/.exec(place)?.[1]}`);
  const tab = pane().querySelector('[role="tab"][aria-selected="true"]')?.getAttribute("aria-controls");
  before = { top: row && scroller().checkVisibility() ? topOf(row) : undefined, tab };
  await showTurn(place);
}

const topOf = (row) => row.getBoundingClientRect().top - scroller().getBoundingClientRect().top;

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-turn-link]");
  const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || !document.getElementById("composer")) return;
  event.preventDefault();
  // In a drawing, `href` is an object.
  choose(new URL(link.getAttribute("href"), location.href).pathname);
});
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-turn-picker]")) return;
  if (document.getElementById("composer")) choose(target.value);
  else location.assign(target.value);
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "response") return;
  before.focused = document.activeElement;
});

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const { target, requestConfig } = detail;
  if (target?.id !== "response") return;
  const { top, tab, focused } = before;
  before = {};
  const continues = requestConfig?.elt.closest("[data-continues]");
  if (tab) pane().querySelector("tab-set")?.show(tab);
  place(top);
  // The caret stays in the follow-up field; what else had the focus is gone, or put away.
  const isLost = focused && focused !== document.body && !(focused.isConnected && focused.checkVisibility());
  if (isLost && !pane().contains(document.activeElement))
    giveFocus(pane().querySelector(".response-header"), { preventScroll: true });
  if (!continues) return;
  const text = pane().dataset.title ?? "";
  if (text) document.title = `${text.slice(0, MAX_TITLE)} · NLWeb Playground`;
});

/** Scrolls the chosen turn to where its row was, or else to the upper edge. */
function place(top = LEAD) {
  const chosen = pane().querySelector(".turn--chosen");
  if (chosen?.previousElementSibling || chosen?.nextElementSibling)
    scroller().scrollTop += topOf(chosen) - top;
}

/** Goes to the first failure: to its entry, or to its event where the page has no entry for it. */
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-first-failure]");
  if (!button) return;
  const shown = document.querySelector("#cards .failure, #summaries .failure");
  if (shown) {
    shown.scrollIntoView({ block: "center" });
    shown.tabIndex = -1;
    giveFocus(shown, { preventScroll: true });
    return;
  }
  const response = await fetch(button.dataset.firstFailure);
  const { seq } = response.ok ? await response.json() : {};
  if (seq)
    pane().dispatchEvent(new CustomEvent("frame:show", { bubbles: true, detail: { where: "events", seq } }));
});
