// A part that is drawn on the server, and drawn again while the run is in progress:
// <refreshed-part data-url>, with data-style if it has a style sheet of its own. It is refreshed only
// while it is visible, and not too often. A new drawing is merged into the present one, so that focus,
// hover and marks stay.

import { addStyleSheet } from "../site/dom.js";
import { patch } from "./patch.js";

const EVERY_MS = 500;
/** A slow drawing is refreshed less often: at most this share of the time is spent on it. */
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

  /** Every message reports something new: of the run, or of one of its child runs. */
  outdate() {
    this.outdated = true;
    this.refresh();
  }

  async refresh() {
    if (!this.visible || this.timer || !this.outdated) return;
    this.outdated = false;
    this.timer = -1;
    const began = performance.now();
    await this.draw();
    const pause = Math.max(EVERY_MS, REST * (performance.now() - began));
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.refresh();
    }, pause);
  }

  async draw() {
    const { signal } = this.abort;
    try {
      if (this.dataset.style) await addStyleSheet(this.dataset.style);
      const response = await fetch(this.dataset.url, { headers: { "HX-Request": "true" }, signal });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.body.firstElementChild;
      if (this.firstElementChild) patch(this.firstElementChild, fresh);
      else this.append(fresh);
      this.dispatchEvent(new CustomEvent("part:drawn", { bubbles: true }));
    } catch (error) {
      // The server is unavailable, or the part was removed: the next message tries again.
      if (error.name !== "AbortError") this.outdated = true;
    }
  }
}

customElements.define("refreshed-part", RefreshedPart);
