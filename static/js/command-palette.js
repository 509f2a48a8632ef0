// <command-palette>: a dialog with a search box over commands, agents, fields and links.

import { COMMANDS, isPossible } from "./commands.js";
import { make } from "./dom.js";
import { chooseAgent } from "./target.js";

class CommandPalette extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.input = this.querySelector("input");
    this.list = this.querySelector("ul");
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("click", (event) => this.#run(event.target.closest("li")));
    this.list.addEventListener("pointermove", (event) => this.#choose(event.target.closest("li")));
  }

  toggle() {
    if (this.dialog.open) this.dialog.close();
    else this.#open();
  }

  #open() {
    this.entries = [...commands(), ...agents(), ...fields(), ...links()];
    this.input.value = "";
    this.#filter();
    this.dialog.showModal();
  }

  #filter() {
    const words = this.input.value.toLowerCase().split(/\s+/);
    this.found = this.entries.filter(({ label, group }) =>
      words.every((word) => `${group} ${label}`.toLowerCase().includes(word)),
    );
    this.list.replaceChildren(...this.found.map(item));
    this.querySelector(".palette-none").hidden = this.found.length > 0;
    this.#choose(this.list.firstElementChild);
  }

  #choose(chosen) {
    if (!chosen && this.found.length) return;
    for (const each of this.list.children) each.setAttribute("aria-selected", String(each === chosen));
    this.input.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const rows = [...this.list.children];
    const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    if (event.key === "Enter") this.#run(rows[at]);
    else if (event.key === "ArrowDown") this.#choose(rows[(at + 1) % rows.length]);
    else if (event.key === "ArrowUp") this.#choose(rows.at(at - 1));
    else return;
    event.preventDefault();
  }

  #run(row) {
    const entry = this.found[[...this.list.children].indexOf(row)];
    if (!entry) return;
    this.dialog.close();
    entry.run();
  }
}

function item({ label, group, keys }, index) {
  const row = make(
    "li",
    { id: `palette-${index}`, role: "option" },
    make("span", { className: "palette-group" }, group),
    make("span", { className: "palette-label" }, label),
  );
  if (keys) row.append(make("kbd", {}, /Mac/.test(navigator.platform) ? keys : keys.replace("⌘", "Ctrl ")));
  return row;
}

function commands() {
  const possible = COMMANDS.filter((command) => !command.hidden && isPossible(command));
  return possible.map((command) => ({ ...command, group: "Do" }));
}

function agents() {
  const options = document.querySelectorAll("#agent-select option[value]:not([value=''])");
  return [...options].map(({ value, text }) => ({
    group: "Agent",
    label: text,
    run: () => chooseAgent(value),
  }));
}

function fields() {
  const panels = [...document.querySelectorAll("#composer [data-form-panel] json-field:not(.field--bare)")];
  return panels.map((field) => ({
    group: "Field",
    label: field.dataset.pointer.slice(1).replaceAll("/", "."),
    run: () => goTo(field),
  }));
}

function goTo(field) {
  document.querySelector("work-bench").show("compose");
  document.querySelector("#composer tab-set").show(field.closest('[role="tabpanel"]').id);
  field.focus();
}

function links() {
  const anchors = document.querySelectorAll("a[data-palette]");
  return [...anchors].map((anchor) => ({
    group: "Go",
    label: anchor.dataset.palette,
    run: () => anchor.click(),
  }));
}

customElements.define("command-palette", CommandPalette);
