// <lesson-editor data-changed>: the form of a step. A browser warns before it leaves what was not saved;
// data-changed: the form came back with what was entered. Requests that were saved in another browser
// tab are offered once this one is shown again.

class LessonEditor extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.isChanged = "changed" in this.dataset;
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.addEventListener("input", () => (this.isChanged = true));
    this.form.addEventListener("submit", () => (this.isChanged = false));
    addEventListener("beforeunload", (event) => this.isChanged && event.preventDefault(), { signal });
    addEventListener("focus", () => this.#readRequests(), { signal });
  }

  disconnectedCallback() {
    this.abort.abort();
  }

  async #readRequests() {
    try {
      const response = await fetch(location.href);
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const list of this.querySelectorAll("[data-requests]"))
        this.#offer(list, page.getElementById(list.id));
    } catch {
      // The list is as it was loaded.
    }
  }

  /** Adds the requests that are not in the list yet; the selection is kept. */
  #offer(list, found) {
    const known = new Set([...list.options].map(({ value }) => value));
    for (const option of found?.options ?? [])
      if (!known.has(option.value)) list.add(new Option(option.text, option.value));
  }
}

customElements.define("lesson-editor", LessonEditor);
