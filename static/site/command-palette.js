// <command-palette>: a dialog with a search box over all that can be done now (commands, views of the
// response, agents, environments, fields, pages), and over saved requests, which the server finds.
// search() opens it for the saved requests alone.

import { COMMANDS, isPossible } from "./commands.js";
import { make } from "./dom.js";
import { keyText } from "./keys.js";
import { allTabs, showTab } from "../composer/stored-tabs.js";
import { nameOf } from "../composer/tab-model.js";

/** How long a pause in typing is before saved requests are searched. */
const PAUSE_MS = 120;

class CommandPalette extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.input = this.querySelector("input");
    this.list = this.querySelector("ul");
    this.saved = this.querySelector("#palette-saved");
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    const box = this.querySelector('[role="listbox"]');
    box.addEventListener("click", (event) => this.#run(event.target.closest("li")));
    box.addEventListener("pointermove", (event) => this.#choose(event.target.closest("li")));
    this.saved.addEventListener("htmx:afterSwap", () => this.#show());
  }

  toggle() {
    if (this.dialog.open) this.dialog.close();
    else this.#open();
  }

  /** Opens it to search the saved requests. */
  search() {
    if (!this.dialog.open) this.#open(true);
  }

  #open(isSearch = false) {
    this.dialog.toggleAttribute("data-search", isSearch);
    this.input.placeholder = isSearch ? this.dataset.search : this.dataset.all;
    this.entries = isSearch
      ? []
      : [
          ...commands(),
          ...marked(),
          ...views(),
          ...openRequests(),
          ...agents(),
          ...environments(),
          ...fields(),
          ...pages(),
        ];
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
    clearTimeout(this.timer);
    const text = this.input.value.trim();
    if (text) this.timer = setTimeout(() => this.#ask(text), PAUSE_MS);
    else {
      window.htmx.trigger(this.saved, "htmx:abort");
      this.saved.replaceChildren();
    }
    this.#show();
  }

  /** Searches saved requests; the earlier results stay until the response. */
  #ask(text) {
    const url = `${this.dataset.url}?q=${encodeURIComponent(text)}`;
    window.htmx.ajax("GET", url, { source: this.saved, target: this.saved, select: '[role="option"]' });
  }

  #rows() {
    return [...this.querySelectorAll('[role="option"]')];
  }

  #show() {
    const rows = this.#rows();
    const isIdle = this.dialog.hasAttribute("data-search") && !this.input.value.trim();
    this.querySelector(".palette-none").hidden = rows.length > 0 || isIdle;
    this.#choose(rows.find((row) => row.getAttribute("aria-selected") === "true") ?? rows[0]);
  }

  #choose(chosen) {
    const rows = this.#rows();
    if (!chosen && rows.length) return;
    for (const each of rows) each.setAttribute("aria-selected", String(each === chosen));
    this.input.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const rows = this.#rows();
    const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    if (event.key === "Enter") this.#run(rows[at]);
    else if (event.key === "ArrowDown") this.#choose(rows[(at + 1) % rows.length]);
    else if (event.key === "ArrowUp") this.#choose(rows.at(at - 1));
    else return;
    event.preventDefault();
  }

  #run(row) {
    const entry = this.found[[...this.list.children].indexOf(row)];
    if (!row) return;
    this.dialog.close();
    if (entry) entry.run();
    else follow(row);
  }
}

/** Follows a row by a link, so that saved requests open without loading a page. */
function follow({ dataset }) {
  const link = make("a", { href: dataset.href, hidden: true });
  if (dataset.saved) link.dataset.saved = dataset.saved;
  document.body.append(link);
  link.click();
  link.remove();
}

function item({ label, group, keys }, index) {
  const row = make(
    "li",
    { id: `palette-${index}`, role: "option" },
    make("span", { className: "palette-group" }, group),
    make("span", { className: "palette-label" }, label),
  );
  if (keys) row.append(make("kbd", {}, keyText(keys)));
  return row;
}

const isUsable = (element) => !element.disabled && !element.hidden;

function commands() {
  const possible = COMMANDS.filter((command) => !command.hidden && isPossible(command));
  return possible.map((command) => ({ ...command, group: "Action" }));
}

/** Buttons and links with a label for the palette, while they can be pressed: data-palette="Label". */
function marked() {
  const found = [...document.querySelectorAll("main [data-palette]")];
  return found
    .filter((element) => isUsable(element) && element.checkVisibility())
    .map((element) => ({ group: "Action", label: element.dataset.palette, run: () => element.click() }));
}

/** The tabs of the response. */
function views() {
  const tabs = document.querySelectorAll('#response [role="tablist"] [role="tab"]');
  return [...tabs].filter(isUsable).map((tab) => ({
    group: "Response",
    label: `Show ${tab.firstChild.textContent.trim() || tab.textContent.trim()}`,
    run: () => {
      document.querySelector("work-bench").show("outcome");
      tab.click();
    },
  }));
}

function openRequests() {
  const tabs = allTabs();
  if (tabs.length < 2) return [];
  return tabs.map((tab) => ({ group: "Open", label: nameOf(tab), run: () => showTab(tab) }));
}

function agents() {
  return [...document.querySelectorAll("#agent-list [data-choose-agent]:not([aria-current])")].map(
    (link) => ({
      group: "Agent",
      label: link.querySelector(".side-item-text").textContent,
      run: () => link.click(),
    }),
  );
}

function environments() {
  const select = document.getElementById("environment-select");
  const others = [...(select?.options ?? [])].filter((option) => !option.selected);
  return others.map(({ value, text }) => ({
    group: "Environment",
    label: text,
    run: () => {
      select.value = value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    },
  }));
}

/** The fields of the protocol that is composed; those of another one have hidden tabs. */
function fields() {
  // Of the protocol that is composed, and not what lists and rows are made of.
  const sections = "#composer .form-section:not([hidden])";
  return [...document.querySelectorAll(`${sections} > json-field`)].map((field) => ({
    group: "Field",
    label: field.dataset.pointer.slice(1).replaceAll("/", "."),
    run: () => goTo(field),
  }));
}

function goTo(field) {
  document.querySelector("work-bench").show("compose");
  document.querySelector("#composer tab-set").show("tab-request");
  field.open();
  field.focus();
}

function pages() {
  return [...document.querySelectorAll("command-palette a[data-palette]")]
    .filter(({ pathname }) => pathname !== location.pathname)
    .map((link) => ({ group: "Page", label: link.dataset.palette, run: () => link.click() }));
}

customElements.define("command-palette", CommandPalette);
