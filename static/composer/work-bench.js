// <work-bench data-pane="compose">: composer and response side by side, where the composer can be
// hidden; on a narrow screen one of them at a time. <agent-tour for="demo">: suggestions for an agent.

import { closeDrawer } from "../site/sidebar.js";
import { remember } from "../site/storage.js";

const root = document.documentElement;
/** Where there is one pane at a time; as in layout.css. */
const isNarrow = matchMedia("(width < 44rem)");

class WorkBench extends HTMLElement {
  connectedCallback() {
    // On the document: the skip links lead to panes too.
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-show-pane]");
      if (button) this.show(button.dataset.showPane);
      else if (event.target.closest("[data-choose-agent]")) this.show("compose");
    });
    // After sending, the response is what one wants to see.
    this.addEventListener("htmx:afterSwap", (event) => {
      const { target, requestConfig } = event.detail;
      if (target.id === "response" && requestConfig?.elt.localName !== "request-tabs") this.show("outcome");
    });
    const isComposing = this.querySelector('#composer [name="parent"]')?.value;
    if (this.querySelector("#response[data-run]") && !isComposing) this.show("outcome");
    this.#showToggle();
  }

  get isWide() {
    return !isNarrow.matches;
  }

  /** Shows a pane: on a narrow screen in place of the other one, else a composer that is hidden. */
  show(pane) {
    closeDrawer();
    this.dataset.pane = pane;
    for (const button of this.querySelectorAll("[data-show-pane]")) {
      if (button.dataset.showPane === pane) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    if (pane === "compose" && this.#isHidden) this.toggleComposer();
  }

  toggleComposer() {
    const isHidden = !this.#isHidden;
    const hadFocus = this.querySelector("#compose").contains(document.activeElement);
    if (isHidden) root.dataset.composer = "hidden";
    else delete root.dataset.composer;
    remember("composer", isHidden ? "hidden" : "shown");
    this.#showToggle();
    if (isHidden && hadFocus) this.#toggle.focus();
  }

  get #isHidden() {
    return root.dataset.composer === "hidden";
  }

  get #toggle() {
    return document.querySelector('.topbar [data-command="composer"]');
  }

  #showToggle() {
    this.#toggle?.setAttribute("aria-expanded", String(!this.#isHidden));
  }
}

class AgentTour extends HTMLElement {
  connectedCallback() {
    this.signal = new AbortController();
    for (const name of ["composer:change", "composer:load", "change"])
      document.addEventListener(name, () => this.#show(), this.signal);
    this.#show();
  }

  disconnectedCallback() {
    this.signal.abort();
  }

  #show() {
    const chosen = document.getElementById("composer")?.elements.agent?.value;
    this.hidden = this.getAttribute("for") !== chosen;
  }
}

customElements.define("work-bench", WorkBench);
customElements.define("agent-tour", AgentTour);
