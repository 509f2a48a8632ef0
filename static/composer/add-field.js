// <add-field>: the button below the form's fields, and a combobox over all that is not set: fields by
// name and meaning, entries of optional lists, and for other members a row with the name that is typed.

import { make, placeMenu } from "../site/dom.js";
import { KINDS } from "./value-kinds.js";

class AddField extends HTMLElement {
  connectedCallback() {
    if (this.menu) return;
    this.button = this.querySelector("button");
    this.menu = this.querySelector("[popover]");
    this.input = this.querySelector("input");
    this.list = this.querySelector('[role="listbox"]');
    // Pressed while the menu is open, the button has closed it before the click.
    this.button.addEventListener("pointerdown", () => (this.wasOpen = this.#isOpen));
    this.button.addEventListener("click", ({ detail }) => (detail && this.wasOpen) || this.#open());
    this.menu.addEventListener("toggle", () => (this.button.ariaExpanded = String(this.#isOpen)));
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("click", ({ target }) => this.#take(target.closest('[role="option"]')));
    this.list.addEventListener("pointermove", ({ target }) =>
      this.#choose(target.closest('[role="option"]')),
    );
  }

  get #isOpen() {
    return this.menu.matches(":popover-open");
  }

  #open() {
    this.menu.showPopover();
    this.input.value = "";
    this.#filter();
    placeMenu(this.menu, this.button);
    this.input.focus();
  }

  #filter() {
    const text = this.input.value.trim();
    const words = text.toLowerCase().split(/\s+/);
    const sections = [...this.parentElement.querySelectorAll(".form-section:not([hidden])")];
    const groups = sections.map((section) => ({
      title: section.dataset.title,
      entries: entriesOf(section, text).filter(
        ({ name, hint, isOther }) =>
          (isOther && text) || words.every((word) => `${name} ${hint}`.toLowerCase().includes(word)),
      ),
    }));
    // A field with the name that is typed comes before those whose name begins so, or that are about it.
    const isNamed = ({ isOther, name }) => !isOther && name.toLowerCase() === text.toLowerCase();
    const isBegun = ({ isOther, name }) => !isOther && name.toLowerCase().startsWith(text.toLowerCase());
    this.entries = [];
    this.list.replaceChildren(
      ...groups.filter(({ entries }) => entries.length).map((group) => this.#groupOf(group)),
    );
    const options = this.#options();
    const best = [isNamed, isBegun, ({ isOther }) => !isOther].map((test) => this.entries.findIndex(test));
    this.#choose(options[best.find((index) => index >= 0) ?? 0]);
  }

  #groupOf({ title, entries }) {
    const rows = entries.map((entry) => {
      this.entries.push(entry);
      const { name, type, hint, isOther } = entry;
      return make(
        "div",
        { role: "option", id: `add-field-${this.entries.length}`, className: "add-field-option" },
        make("span", { className: isOther ? "add-field-other" : "add-field-name" }, name),
        make("span", { className: "add-field-type" }, type),
        make("span", { className: "add-field-hint" }, hint),
      );
    });
    const head = make("div", { className: "add-field-title", "aria-hidden": "true" }, title);
    return make("div", { role: "group", "aria-label": title }, head, ...rows);
  }

  #options() {
    return [...this.list.querySelectorAll('[role="option"]')];
  }

  #choose(chosen) {
    const options = this.#options();
    if (!chosen && options.length) return;
    for (const each of options) each.setAttribute("aria-selected", String(each === chosen));
    this.input.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    if (event.isComposing || event.metaKey || event.ctrlKey) return;
    const options = this.#options();
    const at = options.findIndex((each) => each.getAttribute("aria-selected") === "true");
    if (event.key === "Enter") this.#take(options[at]);
    else if (event.key === "ArrowDown") this.#choose(options[(at + 1) % options.length]);
    else if (event.key === "ArrowUp") this.#choose(options.at(at - 1));
    else if (event.key === "Tab") this.menu.hidePopover();
    else return;
    if (event.key !== "Tab") event.preventDefault();
  }

  #take(option) {
    const entry = this.entries[this.#options().indexOf(option)];
    if (!entry) return;
    this.menu.hidePopover();
    entry.add();
  }
}

/** What a section can have beside what it has: {name, type, hint, add} each. */
function entriesOf(section, text) {
  const fields = [...section.querySelectorAll("json-field[hidden]")].filter(({ isBlocked }) => !isBlocked);
  const lists = [...section.querySelectorAll("json-list[hidden]")];
  const rows = [...section.querySelectorAll("json-rows")].filter((each) => each.document.accepts(each.keys));
  return [
    ...fields.map((field) => ({
      name: field.name,
      type: field.types.map((type) => KINDS[type]).join(", "),
      hint: field.hint?.textContent ?? "",
      add: () => {
        field.open();
        field.focus();
      },
    })),
    ...lists.map((list) => ({
      name: list.dataset.label,
      type: "list",
      hint: list.dataset.hint,
      add: () => list.add(),
    })),
    ...rows
      .filter((each) => !text || !each.problemOf(text))
      .map((each) => ({
        isOther: true,
        name: text ? `${text} (${each.dataset.name})` : `Other ${each.dataset.name}`,
        type: "any",
        hint: each.dataset.hint,
        add: () => each.add(text),
      })),
  ];
}

customElements.define("add-field", AddField);
