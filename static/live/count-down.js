// Seconds until something happens by itself: <count-down data-ms="4200"></count-down>. When the
// time is over it says "now" and leaves the rest to the server.

import { inWords } from "../site/wait-clock.js";

const STEP_MS = 250;

class CountDown extends HTMLElement {
  connectedCallback() {
    this.until = performance.now() + Number(this.dataset.ms);
    this.timer = setInterval(() => this.tick(), STEP_MS);
    this.tick();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  tick() {
    if (this.closest("[data-lost]")) return;
    const left = Math.ceil((this.until - performance.now()) / 1000);
    const words = left > 0 ? inWords(left) : "a moment";
    if (this.textContent !== words) this.textContent = words;
  }
}

customElements.define("count-down", CountDown);
