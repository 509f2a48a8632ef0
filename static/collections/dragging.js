// Dragging a row by its handle, with a mouse or a finger: it moves to where the pointer is, and
// stays there when it is let go. Escape leaves it where it was.

/** Pixels that the pointer moves before it drags, and from an edge of the window that scroll. */
const SLACK = 4;
const EDGE = 48;
const SCROLL = 12;

/** Follows a pointer that has gone down on the handle of `item`. */
export function startDragging(list, item, { pointerId, clientY: from, target: handle }) {
  const { parentElement: parent, nextElementSibling: next, previousElementSibling: previous } = item;
  let isDragging = false;

  const move = (event) => {
    if (event.pointerId !== pointerId) return;
    if (!isDragging && Math.abs(event.clientY - from) < SLACK) return;
    isDragging = true;
    item.dataset.held = "";
    if (event.clientY < EDGE) scrollBy(0, -SCROLL);
    else if (event.clientY > innerHeight - EDGE) scrollBy(0, SCROLL);
    carry(list, item, event.clientY);
  };
  const end = (isKept) => {
    stop.abort();
    delete item.dataset.held;
    if (!isDragging) return;
    if (isKept) list.settle(item, { parent, next, previous });
    else parent.insertBefore(item, next);
  };
  const stop = new AbortController();
  const listen = (name, action) => document.addEventListener(name, action, { signal: stop.signal });
  handle.closest("[data-handle]").setPointerCapture(pointerId);
  listen("pointermove", move);
  listen("pointerup", () => end(true));
  listen("pointercancel", () => end(false));
  listen("keydown", (event) => event.key === "Escape" && end(false));
}

/** Puts `item` where the pointer is: before or behind the row there, or into an empty list. */
function carry(list, item, y) {
  const { item: kind } = item.dataset;
  const others = [...list.querySelectorAll(`[data-item="${kind}"]`)].filter((each) => each !== item);
  const places = others.map((each) => ({ each, box: each.getBoundingClientRect() }));
  const empty = kind === "request" && emptyAt(list, item, y);
  if (empty) empty.prepend(item);
  const at = places.find(({ box }) => y >= box.top && y <= box.bottom);
  if (!at) return;
  const isAbove = y < at.box.top + at.box.height / 2;
  const target = isAbove ? at.each : at.each.nextElementSibling;
  if (target !== item && target !== item.nextElementSibling) at.each.parentElement.insertBefore(item, target);
  else if (at.each.parentElement !== item.parentElement) at.each.parentElement.insertBefore(item, target);
}

/** A list without rows whose group is at this height. */
function emptyAt(list, item, y) {
  const lists = [...list.querySelectorAll("[data-rows]")];
  return lists.find((rows) => {
    const { top, bottom } = rows.closest("[data-group]").getBoundingClientRect();
    return !rows.querySelector("[data-item]") && y >= top && y <= bottom;
  });
}
