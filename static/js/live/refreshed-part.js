// A part that is drawn on the server and drawn again while the run goes on:
// <refreshed-part data-url>. It refreshes only while somebody sees it, and not too often.

const EVERY_MS = 500;
/** A drawing that takes long is drawn less often: most of the time belongs to others. */
const REST = 4;

class RefreshedPart extends HTMLElement {
  connectedCallback() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.outdated = true;
    document.addEventListener("run:progress", () => this.outdate(), { signal });
    this.watcher = new IntersectionObserver((entries) => {
      this.visible = entries.some((entry) => entry.isIntersecting);
      this.refresh();
    });
    this.watcher.observe(this);
  }

  disconnectedCallback() {
    this.abort.abort();
    this.watcher.disconnect();
    clearTimeout(this.timer);
  }

  /** Every message tells of something new: of the run, or of one that came of it. */
  outdate() {
    this.outdated = true;
    this.refresh();
  }

  async refresh() {
    if (!this.visible || this.timer || !this.outdated) return;
    this.outdated = false;
    this.timer = -1;
    const began = performance.now();
    await window.htmx.ajax("GET", this.dataset.url, { source: this, target: this, swap: "innerHTML" });
    const pause = Math.max(EVERY_MS, REST * (performance.now() - began));
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.refresh();
    }, pause);
  }
}

customElements.define("refreshed-part", RefreshedPart);
