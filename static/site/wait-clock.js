// Counts down Retry-After: <wait-clock data-seconds="30">. It only shows the time; the controls
// beside it can be used immediately.

import { announce } from "./dom.js";

class WaitClock extends HTMLElement {
  connectedCallback() {
    const seconds = Number(this.dataset.seconds);
    if (!(seconds > 0)) return;
    this.until = performance.now() + seconds * 1000;
    this.timer = setInterval(() => this.tick(), 1000);
    this.tick();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  tick() {
    const left = Math.ceil((this.until - performance.now()) / 1000);
    if (left > 0) {
      this.textContent = `Retry after ${inWords(left)}.`;
      return;
    }
    clearInterval(this.timer);
    this.textContent = "You can retry now.";
    announce(this.textContent);
  }
}

/** Seconds in words, with the two largest units: "2 h 5 min", "45 s". */
export function inWords(seconds) {
  const units = [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  let rest = seconds;
  const parts = units.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return [count, name];
  });
  return parts
    .filter(([count]) => count)
    .map(([count, name]) => `${count} ${name}`)
    .join(" ");
}

customElements.define("wait-clock", WaitClock);
