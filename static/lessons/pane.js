// <lesson-pane data-check="/lessons/…/check/">: the lesson beside the workbench. It has a step checked
// when a run has ended, and with data-composed when the request has changed; not with data-manual,
// whose step the learner confirms, nor once it has passed. Buttons with data-look-tab open a tab and
// mark a place in it. On a narrow screen the lesson can be folded.

import { announce } from "../site/dom.js";
import { giveFocus } from "../site/focus.js";
import { recall, remember } from "../site/storage.js";

const RUN_DELAY_MS = 250;
const COMPOSED_DELAY_MS = 700;
/** How long a place is looked for, as tabs are loaded when they are opened. */
const LOOK_MS = 3000;
const LOOK_EVERY_MS = 100;
const FOLD_KEY = "lesson";

/** Tabs by the names that lessons use: the pane, and the panel. */
const TABS = {
  results: ["outcome", "tab-results"],
  timeline: ["outcome", "tab-timeline"],
  sequence: ["outcome", "tab-sequence"],
  events: ["outcome", "tab-events"],
  wire: ["outcome", "tab-wire"],
  session: ["outcome", "tab-session"],
  conformance: ["outcome", "tab-conformance"],
  checks: ["outcome", "tab-checks"],
  request: ["compose", "tab-request"],
  auth: ["compose", "tab-auth"],
  headers: ["compose", "tab-headers"],
  expect: ["compose", "tab-expect"],
  json: ["compose", "tab-json"],
};

/** The selector of a place in a tab. */
function selectorOf(tab, place) {
  const value = CSS.escape(place);
  if (tab === "request") return `[data-pointer="${value}"]:not([hidden])`;
  if (tab === "timeline") return `.mark[data-kind="${value}"]`;
  return `:is(.event, .wire-block)[data-kind="${value}"]`;
}

function unmark() {
  for (const marked of document.querySelectorAll("[data-look-mark]")) delete marked.dataset.lookMark;
}

/** Shows a frame and its data in Events. */
function showFrame(seq) {
  const event = new CustomEvent("frame:show", { bubbles: true, detail: { where: "events", seq } });
  document.getElementById("response").dispatchEvent(event);
}

/** Moves the focus to a place, or to its first control; a mark of the timeline is announced. */
function reach(place) {
  if (place.matches(".mark")) return announce(place.textContent);
  const controls = place.matches("json-field") ? [...place.querySelectorAll("input, textarea, select")] : [];
  const control = controls.find((each) => each.checkVisibility()) ?? place;
  if (control === place) place.tabIndex = -1;
  return giveFocus(control, { preventScroll: true });
}

class LessonPane extends HTMLElement {
  connectedCallback() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    const isWaiting = () => this.dataset.check && !("passed" in this.dataset) && !("manual" in this.dataset);
    document.addEventListener(
      "run:progress",
      ({ detail }) => isWaiting() && this.#onProgress("final" in detail),
      { signal },
    );
    for (const name of ["composer:change", "composer:load"])
      document.addEventListener(
        name,
        () => "composed" in this.dataset && isWaiting() && this.#checkSoon(COMPOSED_DELAY_MS),
        { signal },
      );
    this.addEventListener("click", (event) => this.#click(event));
    this.#fold(recall(FOLD_KEY) === "folded");
    if (isWaiting() && document.querySelector("run-cursor[data-final]")) this.#checkSoon(RUN_DELAY_MS);
  }

  disconnectedCallback() {
    this.abort.abort();
    clearTimeout(this.timer);
    clearInterval(this.search);
    unmark();
  }

  /** While a run is in progress, the verdict is about the run before. Promises are polled later. */
  #onProgress(isFinal) {
    if (!isFinal && document.querySelector("run-cursor[data-final]")) return;
    this.#setStale(true);
    if (isFinal) this.#checkSoon(RUN_DELAY_MS);
  }

  #setStale(isStale) {
    this.querySelector("#lesson-check").toggleAttribute("data-stale", isStale);
  }

  #checkSoon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#check(), delay);
  }

  async #check() {
    const form = document.getElementById("composer");
    const values = "composed" in this.dataset && form ? Object.fromEntries(new FormData(form)) : {};
    const target = this.querySelector("#lesson-check");
    try {
      await window.htmx.ajax("POST", this.dataset.check, { source: this, target, swap: "none", values });
    } catch {
      // The playground is not available; the next run is checked again.
    }
    if (this.isConnected) this.#setStale(false);
  }

  #click(event) {
    const look = event.target.closest("[data-look-tab]");
    if (look) this.#look(look.dataset.lookTab, look.dataset.lookPlace);
    if (event.target.closest(".lesson-fold")) {
      const isFolded = this.toggleAttribute("data-folded");
      remember(FOLD_KEY, isFolded ? "folded" : "shown");
      this.#fold(isFolded);
    }
  }

  #fold(isFolded) {
    this.toggleAttribute("data-folded", isFolded);
    this.querySelector(".lesson-fold").ariaExpanded = String(!isFolded);
  }

  /** Opens a tab, and marks a place in it once it is there. */
  #look(tab, place) {
    const [pane, panel] = TABS[tab] ?? [];
    const button = panel && document.querySelector(`[role="tab"][aria-controls="${panel}"]`);
    this.#say("");
    unmark();
    if (!button) return this.#say("This tab appears after a request was sent.");
    document.querySelector("work-bench").show(pane);
    button.closest("tab-set").show(panel, { focus: true });
    if (place) this.#mark(panel, selectorOf(tab, place));
    return undefined;
  }

  #mark(panel, selector) {
    clearInterval(this.search);
    const until = performance.now() + LOOK_MS;
    const attempt = () => {
      const within = document.getElementById(panel);
      const found = within.querySelector(selector);
      if (!found && performance.now() < until) return;
      clearInterval(this.search);
      if (!found) {
        this.#say("Nothing to show yet. Send the request of this step first.");
        return;
      }
      found.dataset.lookMark = "";
      found.scrollIntoView({ block: found.clientHeight < within.clientHeight / 2 ? "center" : "start" });
      // The row of an event shows only the beginning of its data.
      if (found.matches(".event")) showFrame(Number(found.dataset.seq));
      else reach(found);
    };
    this.search = setInterval(attempt, LOOK_EVERY_MS);
    attempt();
  }

  #say(text) {
    const note = this.querySelector("[data-look-note]");
    if (!note) return;
    note.textContent = text;
    note.hidden = !text;
    if (text) announce(text);
  }
}

// Another step replaces the pane, and gets the focus if the pane had it.
let hadFocus = false;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "lesson") hadFocus = detail.target.contains(document.activeElement);
});
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target.id !== "lesson" || !hadFocus) return;
  hadFocus = false;
  target.querySelector("#lesson-body").focus({ preventScroll: true });
});
// Hints and verdicts change it in place. What was asked for gets the focus.
let said = "";
document.addEventListener("part:patched", ({ target, detail }) => {
  const pane = document.getElementById("lesson");
  if (!pane?.contains(target)) return;
  if (target.id === "lesson-help") {
    const help = [...target.querySelectorAll(".lesson-hints > li, .lesson-solution")];
    if (pane.contains(document.activeElement)) help.at(-1)?.focus();
  } else {
    const hasAnswered = document.activeElement?.closest(".lesson-answer");
    if (detail.lostFocus || hasAnswered)
      pane.querySelector(".lesson-verdict [data-next]")?.focus({ preventScroll: true });
    showVerdict();
    // A screen reader says by itself what has changed; the same verdict is said again.
    const verdict = pane.querySelector(".lesson-verdict")?.textContent ?? "";
    if (verdict && verdict === said) announce(verdict);
    said = verdict;
  }
});

/** Scrolls the pane alone, so that the result of a check is seen. */
function showVerdict() {
  const body = document.getElementById("lesson-body");
  const verdict = body?.querySelector(".lesson-verdict");
  if (!verdict) return;
  const below = verdict.getBoundingClientRect().bottom - body.getBoundingClientRect().bottom;
  if (below > 0) body.scrollTop += below + 8;
}

customElements.define("lesson-pane", LessonPane);
