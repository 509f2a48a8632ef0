// <sort-list>: rows that are put in order by hand: [data-item] with a [data-handle], in lists
// [data-rows], which may be in [data-item="folder"] themselves. By keys on the handle: Alt+↑ and
// Alt+↓, or Space to pick up, arrows, Space to put down, Escape to leave it where it was. By
// pointer: see dragging.js. The page moves it first, and the server is told where it stands.

import { announce } from "../site/dom.js";
import { startDragging } from "./dragging.js";

class SortList extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("focusout", (event) => this.#left(event));
    this.addEventListener("pointerdown", (event) => {
      const handle = event.target.closest("[data-handle]");
      if (handle && event.button === 0) startDragging(this, handle.closest("[data-item]"), event);
    });
  }

  /** Moves `item` by one place, past the end of its list into the next one, and tells. */
  step(item, by) {
    const before = placeOf(item);
    if (this.#shift(item, by)) this.settle(item, before);
    else announce(`${item.dataset.name} is ${by < 0 ? "first" : "last"} already.`);
  }

  /** Sends the new position of `item` to the server; `before` is its previous one. */
  async settle(item, before) {
    const now = placeOf(item);
    if (before.parent === now.parent && before.next === now.next) return;
    const { slug: after } = now.previous?.dataset ?? {};
    const { slug: ahead } = (after ? undefined : now.next?.dataset) ?? {};
    const { rows: folder } = now.parent.dataset;
    const values = item.dataset.item === "request" ? { folder } : {};
    if (after) values.after = after;
    else if (ahead) values.before = ahead;
    announce(whereIs(item));
    const url = `${item.dataset.url}place/`;
    const options = { source: item, target: item, swap: "none", values };
    await window.htmx.ajax("POST", url, options);
  }

  #shift(item, by) {
    const { target, isBefore } = neighbour(this, item, by);
    if (!target) return false;
    const focused = item.contains(document.activeElement) ? document.activeElement : null;
    this.isMoving = true;
    if (target.matches("[data-rows]"))
      target.insertBefore(item, isBefore ? target.firstElementChild : ender(target));
    else target.parentElement.insertBefore(item, isBefore ? target : target.nextElementSibling);
    focused?.focus();
    item.scrollIntoView({ block: "nearest" });
    this.isMoving = false;
    return true;
  }

  #key(event) {
    const handle = event.target.closest("[data-handle]");
    if (!handle) return;
    const item = handle.closest("[data-item]");
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by && this.held) {
      this.#shift(item, by);
      announce(whereIs(item));
    } else if (by && event.altKey) this.step(item, by);
    else if (event.key === " ") this.#toggle(item, handle);
    else if (event.key === "Escape" && this.held) this.#drop(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #toggle(item, handle) {
    if (this.held) return this.#drop(true);
    this.held = { item, handle, before: placeOf(item) };
    item.dataset.held = "";
    handle.setAttribute("aria-pressed", "true");
    return announce(`${item.dataset.name} picked up. ${whereIs(item)}`);
  }

  #drop(isKept) {
    const { item, handle, before } = this.held;
    this.held = undefined;
    delete item.dataset.held;
    handle.removeAttribute("aria-pressed");
    if (isKept) return this.settle(item, before);
    this.isMoving = true;
    before.parent.insertBefore(item, before.next);
    handle.focus();
    this.isMoving = false;
    return announce(`${item.dataset.name} was not moved.`);
  }

  #left() {
    if (this.held && !this.isMoving) this.#drop(false);
  }
}

const isItem = (element, kind) => element?.matches(`[data-item="${kind}"]`);

/** The element beside which `item` comes to stand, or the list that it comes into. */
function neighbour(root, item, by) {
  const { item: kind } = item.dataset;
  const sibling = by < 0 ? item.previousElementSibling : item.nextElementSibling;
  if (isItem(sibling, kind)) return { target: sibling, isBefore: by < 0 };
  if (kind !== "request") return {};
  const lists = [...root.querySelectorAll("[data-rows]")];
  const target = lists[lists.indexOf(item.parentElement) + by];
  return { target, isBefore: by > 0 };
}

/** What stands behind the last row of a list: the button for more of them. */
function ender(list) {
  return list.querySelector(":scope > .collections-more");
}

function placeOf(item) {
  const { item: kind } = item.dataset;
  const [previous, next] = [item.previousElementSibling, item.nextElementSibling];
  return {
    parent: item.parentElement,
    previous: isItem(previous, kind) ? previous : null,
    next,
  };
}

function whereIs(item) {
  const { item: kind, name } = item.dataset;
  const all = [...item.parentElement.children].filter((each) => isItem(each, kind));
  const folder = item.parentElement.closest('[data-item="folder"]')?.dataset.name;
  return `${name}: ${all.indexOf(item) + 1} of ${all.length}${folder ? ` in ${folder}` : ""}.`;
}

customElements.define("sort-list", SortList);
