// A clock that runs on between messages: <elapsed-time data-ms="1200">1.2 s</elapsed-time>.

const STEP_MS = 100;

class ElapsedTime extends HTMLElement {
  connectedCallback() {
    if (!this.dataset.ms) return;
    const origin = performance.now() - Number(this.dataset.ms);
    this.timer = setInterval(() => {
      if (this.closest("[data-lost]")) return;
      this.textContent = inWords(performance.now() - origin);
    }, STEP_MS);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }
}

function inWords(ms) {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor((ms % 60_000) / 1000);
  return `${Math.floor(ms / 60_000)} min ${String(seconds).padStart(2, "0")} s`;
}

customElements.define("elapsed-time", ElapsedTime);
