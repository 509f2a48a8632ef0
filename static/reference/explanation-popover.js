// The popover with the explanation of a name. It opens after the pointer has moved onto the name and
// rests there, after a long press, and as soon as the keyboard moves the focus to the name. It closes
// when the pointer leaves both name and popover, when the user types, and when the name scrolls.
// F1 pins it, or opens it for the element with the focus. A pinned popover can be entered, moves from
// name to name, and stays until it is closed.

import { addStyleSheet, announce, iconButton, make } from "../site/dom.js";
import { placeAtPoint, placeOfFocus, step } from "./explanation-places.js";

const OPEN_MS = 400;
/** In rows and buttons, which the pointer crosses on its way to others. */
const OPEN_IN_CONTROL_MS = 900;
/** From one name to the next. */
const NEXT_MS = 100;
const CLOSE_MS = 250;
const PRESS_MS = 500;
/** A finger that moves farther than this (in CSS pixels) scrolls. */
const PRESS_MOVE = 10;
/** A mouse that moves less than this rests. */
const REST_MOVE = 4;
/** Pixels between the popover and its name, and between it and the edge of the window. */
const GAP = 6;
const EDGE = 8;
/** The popover avoids covering these. */
const UNCOVERED = '#composer button[type="submit"]';
const TEXT_FIELDS = "input:not([type=radio], [type=checkbox], [type=button]), textarea, select, .code-host";
/** What a tap does something else to. */
const CONTROLS = "a, button, label, summary, input, select, textarea, .code-host";
const TEXT_ID = "explanation-text";
const MARK = "json-explained";

const fragments = new Map();
/** Resolves when the style sheet is there: the popover is placed by its size. */
let styled;

/** The explanation of a reference as an element; null if there is none. */
function fetchExplanation(reference) {
  if (!fragments.has(reference)) {
    const loading = load(reference).catch(() => {
      fragments.delete(reference); // the playground is away; the next demand tries again
      return make(
        "p",
        { className: "explanation explanation-text" },
        "Not loaded: the playground is offline.",
      );
    });
    fragments.set(reference, loading);
  }
  return fragments.get(reference);
}

async function load(reference) {
  const [schema, pointer = ""] = reference.split(/#(.*)/s);
  const path = schema.split("/").map(encodeURIComponent).join("/");
  const response = await fetch(`/explanations/${path}/?at=${encodeURIComponent(pointer)}`);
  if (response.status >= 500) throw new Error(response.statusText);
  if (!response.ok || response.redirected) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector(".explanation");
}

class Popover {
  /** The place that is explained, null while the popover is closed. */
  place = null;
  isPinned = false;
  #wanted = null;
  #timer = 0;
  #described = null;

  constructor() {
    this.body = make("div", { className: "explanation-body" });
    this.hint = make("p", { className: "explanation-hint" }, make("kbd", {}, "F1"), " pins this");
    this.previous = iconButton("up", "Previous name", () => this.#move(-1));
    this.next = iconButton("chevron", "Next name", () => this.#move(1));
    const close = iconButton("close", "Close (Esc)", () => this.close());
    this.tools = make(
      "div",
      { className: "explanation-tools", hidden: true },
      this.previous,
      this.next,
      close,
    );
    this.element = make(
      "div",
      { className: "explanation-popover", popover: "manual", tabIndex: -1 },
      this.tools,
      this.body,
      this.hint,
    );
    this.element.addEventListener("pointerenter", () => this.#stay());
    // It may also be the popover that moves, away from a pointer that is on its name.
    this.element.addEventListener(
      "pointerleave",
      () => this.place?.element.matches(":hover") || this.leave(),
    );
    document.body.append(this.element);
  }

  /** Opens for a place once the pointer, which has moved on it, rests for a while. */
  rest(place) {
    if (this.isPinned) return;
    if (this.place?.key === place.key) return void this.#stay();
    this.#wanted = place;
    clearTimeout(this.#timer);
    fetchExplanation(place.reference);
    const delay = place.element.closest("button, a, summary") ? OPEN_IN_CONTROL_MS : OPEN_MS;
    this.#timer = setTimeout(() => this.open(place), this.place ? NEXT_MS : delay);
  }

  /** The pointer is on no name: closes after a while, so that it can be moved into the popover. */
  leave() {
    if (this.isPinned || this.isHeld || (!this.place && !this.#wanted)) return;
    if (this.#wanted || !this.isClosing) {
      this.#wanted = null;
      clearTimeout(this.#timer);
      this.isClosing = true;
      this.#timer = setTimeout(() => this.close(), CLOSE_MS);
    }
  }

  /** Opens at once. `isHeld`: it stays when the pointer leaves; `isPinned`: until it is closed. */
  async open(place, { isHeld = false, isPinned = false } = {}) {
    clearTimeout(this.#timer);
    this.isClosing = false;
    this.#wanted = place;
    this.isHeld = isHeld; // The focus may scroll the page while the explanation is loaded.
    const [content] = await Promise.all([fetchExplanation(place.reference), styled]);
    if (this.#wanted !== place || !place.element.isConnected) return false;
    this.#wanted = null;
    if (!content) {
      if (!this.isPinned) this.close();
      return false;
    }
    this.#undescribe();
    this.place = place;
    this.body.replaceChildren(content.cloneNode(true));
    const text = this.body.querySelector(".explanation-text");
    if (text) text.id = TEXT_ID;
    this.#show(place);
    if (isPinned) this.pin();
    else this.#describe(place.element);
    return true;
  }

  /** Keeps the popover open, and moves the focus into it. */
  pin() {
    if (!this.isPinned) this.origin = document.activeElement;
    this.isPinned = true;
    this.#undescribe();
    const { element } = this;
    element.role = "dialog";
    element.ariaLabel = `Explanation of ${this.body.querySelector(".explanation-name")?.textContent ?? "a name"}`;
    element.setAttribute("aria-describedby", TEXT_ID);
    element.toggleAttribute("data-pinned", true);
    this.tools.hidden = false;
    this.hint.hidden = true;
    this.#put();
    if (!element.contains(document.activeElement)) element.focus({ preventScroll: true });
  }

  close() {
    clearTimeout(this.#timer);
    this.#wanted = null;
    this.isClosing = this.isHeld = false;
    if (!this.place) return;
    const hadFocus = this.element.contains(document.activeElement);
    const { origin } = this;
    this.#undescribe();
    this.#mark(null);
    this.place = this.origin = null;
    this.isPinned = false;
    this.element.role = "tooltip";
    for (const name of ["aria-label", "aria-describedby"]) this.element.removeAttribute(name);
    this.element.toggleAttribute("data-pinned", false);
    this.tools.hidden = true;
    this.hint.hidden = false;
    this.element.hidePopover();
    if (hadFocus) origin?.focus({ preventScroll: true });
  }

  /** Whether the Tab key would leave the popover. */
  isLeftBy({ key, shiftKey }) {
    if (key !== "Tab" || !this.isPinned || !this.element.contains(document.activeElement)) return false;
    const stops = [...this.element.querySelectorAll("a[href], button")].filter((stop) =>
      stop.checkVisibility(),
    );
    if (!shiftKey) return document.activeElement === stops.at(-1);
    return [this.element, stops[0]].includes(document.activeElement);
  }

  /** Closes when its name is scrolled under the pointer. One that the keyboard has opened follows. */
  scrolled(target) {
    const { element } = this.place ?? this.#wanted ?? {};
    if (this.isPinned || !element || !target.contains?.(element)) return;
    if (this.isHeld) this.follow();
    else this.close();
  }

  /** Follows its name, and closes when that has gone or left the window. */
  follow() {
    if (!this.place || this.isPinned) return;
    const { top, bottom, width, height } = this.place.rect();
    const isGone = !this.place.element.isConnected || (!width && !height) || bottom < 0 || top > innerHeight;
    if (isGone) this.close();
    else this.#put();
  }

  #stay() {
    if (this.isPinned) return;
    clearTimeout(this.#timer);
    this.#wanted = null;
    this.isClosing = false;
  }

  async #move(by) {
    const place = step(this.place, by);
    if (!place) return void announce(by > 0 ? "No further name." : "No earlier name.");
    place.element.scrollIntoView({ block: "nearest" });
    const isShown = await this.open(place, { isPinned: true });
    if (isShown) announce(this.#sentence);
    // A name without an explanation is skipped.
    if (!isShown && place.element.isConnected && this.place) {
      this.place = place;
      await this.#move(by);
    }
  }

  /** The name and its sentence, as text. */
  get #sentence() {
    const parts = this.body.querySelectorAll(".explanation-name, .explanation-text");
    return [...parts].map((part) => part.textContent).join(": ");
  }

  #show(place) {
    // Behind a modal dialog everything is inert, the top layer included.
    const home = place.element.closest("dialog[open]") ?? document.body;
    if (this.element.parentElement !== home) home.append(this.element);
    if (!this.element.matches(":popover-open")) {
      this.element.role ||= "tooltip";
      this.element.showPopover();
    }
    this.#mark(place);
    this.#put();
  }

  /** Places the popover beside its name, and off the focused field and Send where there is room. */
  #put() {
    const name = this.place.rect();
    const { offsetHeight: height, offsetWidth: width, style } = this.element;
    const within = (at, size, all) => Math.max(EDGE, Math.min(at, all - size - EDGE));
    const used = [name, ...usedRects()];
    const columns = [name.left, ...used.flatMap((rect) => [rect.left - width - GAP, rect.right + GAP])];
    const rows = used.flatMap((rect) => [rect.bottom + GAP, rect.top - height - GAP]);
    const rank = ([x, y]) => {
      const covered = used.filter(
        (rect) => x < rect.right && rect.left < x + width && y < rect.bottom && rect.top < y + height,
      );
      const distance = Math.max(0, y - name.bottom, name.top - y - height);
      return covered.length * 1e6 + distance + Math.abs(x - name.left);
    };
    const places = columns.flatMap((x) =>
      rows.map((y) => [within(x, width, innerWidth), within(y, height, innerHeight)]),
    );
    const [x, y] = places.reduce((best, place) => (rank(place) < rank(best) ? place : best));
    style.insetInlineStart = `${x}px`;
    style.insetBlockStart = `${y}px`;
  }

  #mark(place) {
    document.querySelector("[data-explained]")?.removeAttribute("data-explained");
    if ("highlights" in CSS) CSS.highlights.delete(MARK);
    if (!place) return;
    if (place.range) {
      if ("highlights" in CSS) CSS.highlights.set(MARK, new Highlight(place.range));
    } else if (!place.element.matches(".code-host")) place.element.toggleAttribute("data-explained", true);
  }

  /** Lets screen readers read the sentence with the element. */
  #describe(element) {
    const before = element.getAttribute("aria-describedby");
    element.setAttribute("aria-describedby", [before, TEXT_ID].filter(Boolean).join(" "));
    this.#described = { element, before };
  }

  #undescribe() {
    if (!this.#described) return;
    const { element, before } = this.#described;
    if (before === null) element.removeAttribute("aria-describedby");
    else element.setAttribute("aria-describedby", before);
    this.#described = null;
  }
}

/** The rectangles of the field that is typed in, and of Send. */
function usedRects() {
  const field = document.activeElement?.closest(TEXT_FIELDS);
  return [field, ...document.querySelectorAll(UNCOVERED)]
    .map((element) => element?.getBoundingClientRect())
    .filter((rect) => rect?.width);
}

const popover = new Popover();
let press = null;
let isClickSpent = false;
/** What the mouse was on when it moved last, and where it was then. */
let seen = null;
let rested = { x: NaN, y: NaN };

/** Begins to listen; `style` is the URL of the style sheet. */
export function start(style) {
  if (style) styled = addStyleSheet(style);
  const passive = { passive: true, capture: true };
  document.addEventListener("pointermove", moved, passive);
  document.addEventListener("pointerdown", pressed, passive);
  for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, released, passive);
  document.addEventListener("click", clicked, true);
  document.addEventListener("contextmenu", (event) => isClickSpent && event.preventDefault(), true);
  document.addEventListener("focusin", focused);
  document.addEventListener("focusout", () => !popover.isPinned && popover.isHeld && popover.close());
  document.addEventListener("keydown", keyed, true);
  document.documentElement.addEventListener("pointerleave", () => popover.leave());
  document.addEventListener("input", () => popover.isPinned || popover.close(), passive);
  addEventListener("scroll", ({ target }) => popover.scrolled(target), passive);
  addEventListener("resize", () => popover.follow());
  // What a websocket or another page brings may replace the name.
  document.addEventListener("htmx:afterSettle", () => popover.follow());
}

/** Handles the event that has loaded this module. */
export function notice(event) {
  if (event.type === "focusin") focused(event);
  else if (event.type === "click") clicked(event);
  else moved(event);
}

/** Pins the popover, or opens it pinned for what has the focus; closes a pinned one. */
export async function pinFocused() {
  if (popover.isPinned) return void popover.close();
  if (popover.place) return void popover.pin();
  const place = placeOfFocus();
  if (!place || !(await popover.open(place, { isPinned: true }))) announce("No explanation for this.");
}

function moved(event) {
  const { target, clientX, clientY, pointerType } = event;
  if (pointerType === "touch") {
    if (press && Math.hypot(clientX - press.x, clientY - press.y) > PRESS_MOVE) released();
    return;
  }
  if (popover.isPinned || popover.element.contains(target)) return;
  // What has arrived under a mouse that rests is not what its user looks at.
  if (Math.hypot(clientX - rested.x, clientY - rested.y) < (target === seen ? REST_MOVE : 1)) return;
  rested = { x: clientX, y: clientY };
  seen = target;
  const place = event.buttons ? null : placeAtPoint(target, clientX, clientY);
  if (place) popover.rest(place);
  else popover.leave();
}

function pressed(event) {
  const { target, clientX: x, clientY: y, pointerType } = event;
  isClickSpent = false;
  if (popover.element.contains(target)) return;
  if (!popover.isPinned) popover.close();
  // In text, a long press selects.
  if (pointerType !== "touch" || target.closest("[data-explain-document], .code-host")) return;
  const place = placeAtPoint(target, x, y);
  if (!place) return;
  const timer = setTimeout(() => {
    isClickSpent = true;
    popover.open(place, { isHeld: true });
  }, PRESS_MS);
  press = { x, y, timer };
}

function released() {
  clearTimeout(press?.timer);
  press = null;
}

/** A tap on a name that is no control explains it; the click after a long press does nothing else. */
function clicked(event) {
  if (isClickSpent) {
    isClickSpent = false;
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  if (event.pointerType !== "touch" || event.target.closest(CONTROLS)) return;
  const place = placeAtPoint(event.target, event.clientX, event.clientY);
  if (place) popover.open(place, { isHeld: true });
}

function focused({ target }) {
  if (popover.isPinned || target.matches(TEXT_FIELDS) || !target.matches("[data-explain]:focus-visible"))
    return;
  const place = placeAtPoint(target);
  if (place) popover.open(place, { isHeld: true });
}

function keyed(event) {
  const isTyped = event.key.length === 1 || event.key === "Enter" || event.key === "Backspace";
  if (isTyped && !popover.isPinned) popover.close();
  // The page continues after the name, not after the popover.
  if (popover.isLeftBy(event)) {
    popover.close();
    if (event.shiftKey) event.preventDefault();
  }
  if (event.key !== "Escape" || !popover.place) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  popover.close();
}
