// A part that is made once the run has ended: <final-part data-url>. It is fetched when somebody
// sees it; with data-eager also when nobody does.

class FinalPart extends HTMLElement {
  connectedCallback() {
    this.abort = new AbortController();
    document.addEventListener("run:progress", () => this.load(), { signal: this.abort.signal });
    this.watcher = new IntersectionObserver((entries) => {
      this.visible = entries.some((entry) => entry.isIntersecting);
      this.load();
    });
    this.watcher.observe(this);
    this.load();
  }

  disconnectedCallback() {
    this.abort.abort();
    this.watcher.disconnect();
  }

  async load() {
    const cursor = document.getElementById("run-cursor")?.dataset ?? {};
    const wanted = this.visible || "eager" in this.dataset;
    if (this.loaded || !wanted || !("final" in cursor)) return;
    this.loaded = true;
    try {
      await window.htmx.ajax("GET", this.dataset.url, { source: this, target: this, swap: "innerHTML" });
    } catch {
      this.loaded = false; // the playground is away; the next look tries again
    }
  }
}

customElements.define("final-part", FinalPart);
