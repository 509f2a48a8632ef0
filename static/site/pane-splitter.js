// <pane-splitter data-size="sidebar" aria-controls="sidebar" aria-value…>: the edge between two
// panes, moved with the mouse or, focused, with the arrow keys. The width is remembered.

import { remember } from "./storage.js";

const STEP = 16;

class PaneSplitter extends HTMLElement {
  connectedCallback() {
    if (this.pane) return;
    this.pane = document.getElementById(this.getAttribute("aria-controls"));
    this.addEventListener("pointerdown", (event) => this.#grab(event));
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("dblclick", () => this.#reset());
    this.addEventListener("focus", () => this.#report());
    this.#report();
  }

  get #width() {
    return Math.round(this.pane.getBoundingClientRect().width);
  }

  #limit(name) {
    return Number(this.getAttribute(`aria-value${name}`));
  }

  #set(width) {
    const room = Math.max(this.#limit("min"), Math.min(this.#limit("max"), width));
    document.documentElement.style.setProperty(`--${this.dataset.size}-width`, `${room}px`);
    remember(`size.${this.dataset.size}`, String(room));
    this.#report();
  }

  #reset() {
    document.documentElement.style.removeProperty(`--${this.dataset.size}-width`);
    remember(`size.${this.dataset.size}`, "");
    this.#report();
  }

  #report() {
    this.setAttribute("aria-valuenow", String(this.#width));
  }

  #grab(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const offset = this.#width - event.clientX;
    const move = (moved) => this.#set(Math.round(moved.clientX + offset));
    this.setPointerCapture(event.pointerId);
    this.toggleAttribute("data-moving", true);
    this.addEventListener("pointermove", move);
    const release = () => {
      this.removeEventListener("pointermove", move);
      this.removeAttribute("data-moving");
    };
    this.addEventListener("lostpointercapture", release, { once: true });
  }

  #key(event) {
    const width = {
      ArrowLeft: this.#width - STEP,
      ArrowRight: this.#width + STEP,
      Home: this.#limit("min"),
      End: this.#limit("max"),
    }[event.key];
    if (width === undefined) return;
    event.preventDefault();
    this.#set(width);
  }
}

customElements.define("pane-splitter", PaneSplitter);
