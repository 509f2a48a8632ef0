// <work-bench data-pane="compose">: on a phone one pane is shown at a time.

class WorkBench extends HTMLElement {
  connectedCallback() {
    // On the document: the skip links lead to panes too.
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-show-pane]");
      if (button) this.show(button.dataset.showPane);
      else if (event.target.closest("[data-choose-agent]")) this.show("compose");
    });
    // The answer is what one wants to see after sending.
    this.addEventListener("htmx:afterSwap", (event) => {
      const { target, requestConfig } = event.detail;
      if (target.id === "response" && requestConfig?.elt.localName !== "request-tabs") this.show("outcome");
    });
    const isComposing = this.querySelector('#composer [name="parent"]')?.value;
    if (this.querySelector("#response[data-run]") && !isComposing) this.show("outcome");
  }

  show(pane) {
    this.dataset.pane = pane;
    for (const button of this.querySelectorAll("[data-show-pane]")) {
      if (button.dataset.showPane === pane) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }
}

customElements.define("work-bench", WorkBench);
