// The Sequence tab: its messages open their frames in Events, those of other turns with the turn;
// its window of turns moves, a narrow panel has a narrow drawing, and while it grows it follows, unless its reader has scrolled back.

import { giveFocus } from "../site/focus.js";
import { showTurn } from "../composer/stored-tabs.js";

const PANEL = "#tab-sequence";
/** Pixels from the end within which the reader is at the end. */
const NEAR = 40;
/** Three lanes fit into this many pixels; narrower panels get the compact drawing. */
const NARROW = 620;

document.addEventListener("click", (event) => {
  const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const link = event.target.closest(".sequence-link[data-target-run]");
  if (!link || !isPlain || !document.getElementById("composer")) return;
  event.preventDefault();
  openFrame(link.dataset.targetRun, Number(link.dataset.targetFrame));
});

/** Shows a frame in Events; of another run after that run. */
async function openFrame(run, seq) {
  if (run !== response().dataset.run) {
    await showTurn(`/runs/${run}/`);
    if (run !== response().dataset.run) return;
  }
  if (seq)
    response().dispatchEvent(
      new CustomEvent("frame:show", { bubbles: true, detail: { where: "events", seq } }),
    );
}

const response = () => document.getElementById("response");

// The same link in a tab of its own.
const linked = /^#frame-(\d{1,9})$/.exec(location.hash);
if (linked && response()?.dataset.run)
  addEventListener("load", () => openFrame(response().dataset.run, Number(linked[1])), { once: true });

document.addEventListener("click", ({ target }) => {
  const button = target.closest(`${PANEL} [data-until]`);
  if (!button) return;
  const part = button.closest("refreshed-part");
  part.dataset.moved = "";
  draw(part, "until", button.dataset.until);
});

/** Draws it with a parameter of its URL, without it where the value is empty. */
function draw(part, name, value) {
  const url = new URL(part.dataset.url, location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  const place = url.pathname + url.search;
  if (place === part.dataset.url) return;
  part.dataset.url = place;
  part.outdate();
}

/** Draws it narrower while the panel is. */
function fitPanel(panel) {
  const width = panel.clientWidth;
  if (width) draw(panel.firstElementChild, "compact", width < NARROW ? "1" : "");
}

const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => fitPanel(target)));
document.addEventListener("tab:show", ({ target: panel }) => {
  if (!panel.matches(PANEL)) return;
  fitPanel(panel);
  widths.observe(panel);
});

const topOf = (element) => element.getBoundingClientRect().top;
/** The lower edge of the boxes of the lanes once they are at the upper edge of the panel. */
const bottomOf = (panel, boxes) => topOf(panel) + panel.querySelector(boxes).getBoundingClientRect().height;

/** Panels whose reader is at the end. */
const followed = new WeakSet();

document.addEventListener(
  "scroll",
  ({ target }) => {
    if (!target.matches?.(PANEL)) return;
    if (target.scrollHeight - target.scrollTop - target.clientHeight < NEAR) followed.add(target);
    else followed.delete(target);
  },
  true,
);

document.addEventListener("part:drawn", ({ target: part }) => {
  const panel = part.closest(PANEL);
  if (!panel) return;
  if (!("drawn" in part.dataset)) {
    part.dataset.drawn = "";
    const chosen = panel.querySelector(".sequence-turn[data-chosen]");
    if (chosen?.previousElementSibling) panel.scrollTop += topOf(chosen) - bottomOf(panel, ".sequence-heads");
    else followed.add(panel);
  } else if ("moved" in part.dataset) {
    delete part.dataset.moved;
    followed.delete(panel);
    panel.scrollTop = 0;
    // The button that was pressed may be gone.
    if (!panel.contains(document.activeElement)) giveFocus(panel, { preventScroll: true });
  } else if (followed.has(panel)) {
    panel.scrollTop = panel.scrollHeight;
  }
});
