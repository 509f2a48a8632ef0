// The requests that are open in this window, as data. A tab:
//
//   id        of its own, in this window
//   fields    the composer's fields, as text (see composer-fields.js)
//   base      what `fields` were when they were opened or saved last, as `canonical` has it; ""
//             for what was never anywhere
//   saved     "collection/request" of the saved request that it shows, "" for none; `name` and
//             `modified` are that one's
//   title     the words of its document when that was valid last
//   run       id of the run in the response pane, "" for none
//   place     the address of the page while it is shown
//   pinned    whether it has been edited, sent, saved or kept on purpose: what was only looked
//             at is a preview, and gives way to what is opened next
//   standsIn  whether it is only there because the last one was closed
//   used      when it was shown last, as a number that grows

import { parse, toValue } from "./json-text.js";
import { titleIn } from "./protocols.js";

const NAMED = ["agent", "protocol", "version", "binding", "parent"];
const AS_JSON = ["document", "headers", "auth", "expectations", "captures"];
const EMPTY = new Set(["", "[]", "{}"]);
/** More than anybody oversees; and a window's storage has an end. */
const MAX_TABS = 40;

/** Fields in one form, so that two that say the same are equal, however they are written. */
export function canonical(fields) {
  const texts = AS_JSON.map((name) => normal(fields[name] ?? ""));
  const address = fields.agent ? "" : (fields.address ?? "");
  return JSON.stringify([...NAMED.map((name) => fields[name] ?? ""), address, ...texts]);
}

function normal(text) {
  try {
    const written = write(parse(text), text);
    return EMPTY.has(written) ? "" : written;
  } catch {
    return text.trim();
  }
}

function write(node, text) {
  if (node.type === "object")
    return `{${node.members.map(({ key, value }) => `${JSON.stringify(key)}:${write(value, text)}`).join()}}`;
  if (node.type === "array") return `[${node.items.map((item) => write(item, text)).join()}]`;
  // A number with more digits than fit is the digits that it is written with.
  const isExact = node.type !== "number" || Math.abs(node.value) <= Number.MAX_SAFE_INTEGER;
  return isExact ? JSON.stringify(node.value) : text.slice(node.start, node.end);
}

/** Whether a tab holds something that is kept nowhere else. */
export const isChanged = (tab) => canonical(tab.fields) !== tab.base;

/** The name of a tab: of the saved request, or its title. */
export const nameOf = (tab) => tab.name || titleOf(tab) || "New request";

/** The words of a tab's document; while that is invalid, those that it had before. */
export function titleOf({ fields, title = "" }) {
  try {
    return titleIn(fields.protocol, toValue(parse(fields.document))).trim();
  } catch {
    return title;
  }
}

export class TabList {
  constructor({ tabs = [], active = "" } = {}) {
    this.tabs = tabs;
    this.active = tabs.find(({ id }) => id === active) ?? tabs.at(-1);
  }

  /** The list that a text keeps; an empty one where it cannot be read. */
  static read(text) {
    try {
      return new TabList(JSON.parse(text) ?? {});
    } catch {
      return new TabList();
    }
  }

  toString() {
    return JSON.stringify({ tabs: this.tabs, active: this.active?.id });
  }

  /** The tab that work goes on in: the one that is shown, unless that was only looked at. */
  get current() {
    if (!this.active || this.active.pinned) return this.active;
    return this.#latest(({ pinned }) => pinned) ?? this.active;
  }

  /** The tab of an address: the one that is shown, or the one that was last. */
  at(place) {
    return this.active?.place === place ? this.active : this.#latest((tab) => tab.place === place);
  }

  withSaved(saved) {
    return this.active?.saved === saved ? this.active : this.#latest((tab) => tab.saved === saved);
  }

  /** Shows a tab of the list. */
  show(tab) {
    tab.used = 1 + Math.max(0, ...this.tabs.map(({ used }) => used ?? 0));
    this.active = tab;
    return tab;
  }

  /**
   * Adds a tab after the one that is shown. A preview that is shown gives way to it, and to
   * another preview any one does; so do tabs that `replaces` selects.
   */
  open(tab, replaces = () => false) {
    const gives = (each) => replaces(each) || (!each.pinned && (each === this.active || !tab.pinned));
    this.tabs.splice(this.tabs.indexOf(this.active) + 1, 0, tab);
    this.tabs = this.tabs.filter((each) => each === tab || !gives(each));
    this.#limit(tab);
    return this.show(tab);
  }

  /** Takes a tab out; shows its neighbour where it was the one that is shown. Returns its place. */
  close(tab) {
    const at = this.tabs.indexOf(tab);
    this.tabs.splice(at, 1);
    if (tab === this.active) {
      this.active = undefined;
      const next = this.tabs[at] ?? this.tabs.at(-1);
      if (next) this.show(next);
    }
    return at;
  }

  /** Puts a closed tab back where it was; an empty one that stood in for it goes. */
  restore(tab, at) {
    this.tabs = this.tabs.filter((each) => each.pinned || !each.standsIn);
    this.tabs.splice(at, 0, tab);
    return this.show(tab);
  }

  /** The oldest ones that hold nothing of their own make room. */
  #limit(kept) {
    const spare = this.tabs.filter((tab) => tab !== kept && !isChanged(tab));
    spare.sort((one, other) => (one.used ?? 0) - (other.used ?? 0));
    for (const tab of spare.slice(0, Math.max(0, this.tabs.length - MAX_TABS)))
      this.tabs.splice(this.tabs.indexOf(tab), 1);
  }

  #latest(fits) {
    return this.tabs.filter(fits).toSorted((one, other) => (other.used ?? 0) - (one.used ?? 0))[0];
  }
}
