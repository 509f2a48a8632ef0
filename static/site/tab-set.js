// <tab-set data-key="compose">: ARIA tabs. Tabs name their panels with aria-controls; a
// button with data-show-tab="panel-id" anywhere inside opens one. The choice is kept for the
// session under data-key. A panel emits "tab:show" when it appears.

import { recall, remember } from "./storage.js";

class TabSet extends HTMLElement {
  connectedCallback() {
    if (this.tabs) return;
    this.tabs = [...this.querySelectorAll('[role="tablist"] [role="tab"]')];
    this.addEventListener("click", (event) => {
      const tab = event.target.closest('[role="tab"]');
      const link = event.target.closest("[data-show-tab]");
      if (tab && this.tabs.includes(tab)) this.show(tab.getAttribute("aria-controls"));
      else if (link) this.show(link.dataset.showTab, { focus: true });
    });
    this.querySelector('[role="tablist"]').addEventListener("keydown", (event) => this.#key(event));
    const kept = recall(this.#storageKey, sessionStorage);
    if (kept && this.#tabOf(kept)) this.show(kept);
    else this.settle();
  }

  /** Leaves a tab that was hidden for the first one. */
  settle() {
    if (!this.tabs.some((tab) => tab.hidden && tab.getAttribute("aria-selected") === "true")) return;
    this.show(this.tabs.find((tab) => !tab.hidden).getAttribute("aria-controls"));
  }

  /** Opens the panel with this id; `focus` moves the focus to its tab. */
  show(panelId, { focus = false } = {}) {
    const chosen = this.#tabOf(panelId);
    if (!chosen) return;
    for (const tab of this.tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls"));
      // A panel with data-beside is shown beside the others.
      if (panel && !("beside" in panel.dataset)) panel.hidden = !isChosen;
    }
    if (focus) chosen.focus();
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (this.dataset.key) remember(this.#storageKey, panelId, sessionStorage);
    document.getElementById(panelId)?.dispatchEvent(new CustomEvent("tab:show", { bubbles: true }));
  }

  get #storageKey() {
    return `tab.${this.dataset.key}`;
  }

  #tabOf(panelId) {
    return this.tabs.find((tab) => !tab.hidden && tab.getAttribute("aria-controls") === panelId);
  }

  #key(event) {
    const shown = this.tabs.filter((tab) => !tab.hidden);
    const at = shown.indexOf(event.target);
    const last = shown.length - 1;
    const next = {
      ArrowLeft: at > 0 ? at - 1 : last,
      ArrowRight: at < last ? at + 1 : 0,
      Home: 0,
      End: last,
    }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    this.show(shown[next].getAttribute("aria-controls"), { focus: true });
  }
}

// What stands outside of a set, in the bar above it, opens a tab as well.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show-tab]");
  if (!link || link.closest("tab-set")) return;
  const tab = document.querySelector(`[role="tab"][aria-controls="${link.dataset.showTab}"]`);
  tab?.closest("tab-set").show(link.dataset.showTab, { focus: true });
});

customElements.define("tab-set", TabSet);
