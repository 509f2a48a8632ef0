// <action-desk>: one action before it is run, in the slot under its card. The button that opened
// it, named in data-offer, closes it again, as do Esc and Close; the focus goes back to it.
// Emits "desk:changed" when a field was edited, which takes a confirmation back.

import { giveFocus } from "./focus.js";

class ActionDesk extends HTMLElement {
  connectedCallback() {
    if (this.abort) return;
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.setExpanded(true);
    this.addEventListener("input", () => this.changed(), { signal });
    this.addEventListener("change", () => this.changed(), { signal });
    this.addEventListener("keydown", (event) => this.onKey(event), { signal });
    this.addEventListener("click", (event) => this.onClick(event), { signal });
    this.addEventListener("htmx:beforeSwap", (event) => this.onReply(event), { signal });
    this.addEventListener("htmx:oobBeforeSwap", (event) => this.onPatch(event), { signal });
    giveFocus(this, { preventScroll: true });
    this.scrollIntoView({ block: "nearest" });
  }

  disconnectedCallback() {
    if (this.isConnected) return;
    this.abort?.abort();
    this.setExpanded(false);
    // Whatever had the focus in here went with it.
    if (document.activeElement === document.body) this.offer?.focus();
  }

  get offer() {
    return document.getElementById(this.dataset.offer);
  }

  get confirmation() {
    return this.querySelector(".desk-confirmation");
  }

  setExpanded(open) {
    this.offer?.setAttribute("aria-expanded", String(open));
  }

  changed() {
    this.confirmation.replaceChildren();
    this.querySelector("form").dispatchEvent(new Event("desk:changed"));
  }

  // What was read of a server comes with a preview of its own: one that was asked for before is late.
  onReply({ target }) {
    if (target.matches(".desk-facts")) window.htmx.trigger(this.querySelector(".desk-call"), "htmx:abort");
  }

  // Why a server could not be read stays until the address is another one.
  onPatch({ target, detail }) {
    const unread = target.matches(".desk-facts") && target.querySelector("[data-unread]");
    const address = this.querySelector("[name=server_url]")?.value.trim() ?? "";
    if (unread && unread.dataset.unread === address) detail.shouldSwap = false;
  }

  onKey(event) {
    // A key that is held down would press Run action and then confirm it, unread.
    const onButton = event.target.closest("button");
    if (event.repeat && event.key === "Enter" && onButton) event.preventDefault();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.fold();
  }

  onClick(event) {
    if (event.target.closest("[data-close-desk]")) this.fold();
    if (!event.target.closest("[data-not-now]")) return;
    this.confirmation.replaceChildren();
    this.querySelector(".desk-run").focus();
  }

  fold() {
    const { offer } = this;
    this.remove();
    offer?.focus();
  }
}

customElements.define("action-desk", ActionDesk);

// A second press of the button that opened a desk folds it and asks for nothing.
document.addEventListener("htmx:beforeRequest", (event) => {
  const slot = document.getElementById(event.target.dataset?.desk);
  const desk = slot?.querySelector("action-desk");
  if (!desk || desk.dataset.offer !== event.target.id) return;
  event.preventDefault();
  desk.fold();
});
