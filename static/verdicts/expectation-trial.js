// What the run that is shown makes of what is written: asked of the server a moment after every
// change, and when a run has ended. Offers what could be expected of such a run.

import { make } from "../site/dom.js";
import { parse } from "./exact-json.js";

const QUIET_MS = 250;

export class Trial {
  /** `hooks`: judged(answer), and suggested(expectation) when one is taken. */
  constructor(panel, form, hooks) {
    this.panel = panel;
    this.form = form;
    this.hooks = hooks;
    this.offers = panel.querySelector("[data-suggestions]");
    this.sees = panel.querySelector("[data-sees]");
    document.addEventListener("run:progress", () => this.#runMoved());
    document.body.addEventListener("htmx:afterSettle", (event) => {
      if (event.target.id === "response") this.#runMoved();
    });
    this.sees.addEventListener("toggle", () => this.#look());
    this.#runMoved();
  }

  get run() {
    const isOver = "final" in (document.getElementById("run-cursor")?.dataset ?? {});
    return isOver ? (document.getElementById("response")?.dataset.run ?? "") : "";
  }

  /** Asks in a moment; what was asked before is no longer of interest. */
  soon() {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.timer = setTimeout(() => this.#ask(), QUIET_MS);
  }

  #runMoved() {
    if (this.run === this.known) return;
    this.known = this.run;
    this.seen = undefined;
    this.#look();
    this.soon();
  }

  async #ask() {
    const { expectations, captures } = this.form.elements;
    const run = this.run;
    const body = new URLSearchParams({ run, expectations: expectations.value, captures: captures.value });
    const headers = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");
    this.abort = new AbortController();
    try {
      const response = await fetch(this.panel.dataset.attempt, {
        method: "POST",
        body,
        headers,
        signal: this.abort.signal,
      });
      if (!response.ok) return;
      const answer = parse(await response.text());
      this.hooks.judged(answer);
      this.#offer(answer.suggestions);
    } catch (error) {
      if (error.name !== "AbortError") console.warn("The expectations could not be checked.", error);
    }
  }

  #offer(suggestions) {
    const list = this.offers.querySelector("[data-list]");
    // A button that is replaced between the press and the release would get no click.
    const old = new Map([...list.children].map((button) => [button.dataset.offer, button]));
    const buttons = suggestions.map((suggestion) => {
      const offer = JSON.stringify(suggestion);
      if (old.has(offer)) return old.get(offer);
      const button = make("button", { type: "button", className: "btn btn-small" }, suggestion.label);
      button.dataset.offer = offer;
      button.addEventListener("click", () => this.hooks.suggested(suggestion.expectation));
      return button;
    });
    this.offers.hidden = !buttons.length;
    for (const button of old.values()) if (!buttons.includes(button)) button.remove();
    for (const [at, button] of buttons.entries())
      if (list.children[at] !== button) list.insertBefore(button, list.children[at] ?? null);
  }

  /** Fetches the reply as paths see it, once somebody wants to look. */
  #look() {
    if (!this.sees.open || this.seen === this.known) return;
    this.seen = this.known;
    const target = this.sees.querySelector("[data-document]");
    if (!this.known) target.textContent = "Send the request to see its response document here.";
    else
      window.htmx.ajax("GET", this.sees.dataset.url.replace(/0{8}-.*?(?=\/)/, this.known), {
        source: this.sees,
        target,
        swap: "innerHTML",
      });
  }
}
