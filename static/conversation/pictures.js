// Pictures that agents name. The playground loads them and serves them from its own origin: on a
// click, or by itself where the setting of the agent says so (data-pictures="always").
//
// <agent-picture data-subject="Lentil soup"><form action="/runs/…/picture/"><button name="url" …>

import { announce, icon, make } from "../site/dom.js";

/** Pictures that are loaded at once, so that slow servers do not use up the browser's connections. */
const MAX_AT_ONCE = 3;

let loading = 0;
const waiting = [];
/** URLs of pictures on this page; they are shown again wherever their entry is rendered again. */
const shown = new Set();

/** Does some work when it is its turn. */
async function inTurn(work) {
  if (loading < MAX_AT_ONCE) loading += 1;
  else await new Promise((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else loading -= 1;
  }
}

const nearby = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) target.show();
  },
  { rootMargin: "200px" },
);

class AgentPicture extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    if (!this.form) return; // It is shown.
    this.button = this.form.querySelector("button");
    // The text before the hidden one that belongs to the name of the button.
    this.verb = this.form.querySelector(".picture-verb").firstChild;
    const url = new URL(this.form.getAttribute("action"), location.href);
    url.searchParams.set("url", this.button.value);
    this.url = url.href;
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.show(true);
    };
    if (shown.has(this.url) || this.closest("[data-pictures]")?.dataset.pictures === "always")
      this.showWhenNear();
    else this.closest("#response")?.toggleAttribute("data-has-pictures", true);
  }

  disconnectedCallback() {
    nearby.unobserve(this);
  }

  /** Loads the picture when it comes into view. */
  showWhenNear() {
    if (this.form.isConnected) nearby.observe(this);
  }

  /** Loads the picture, and says so if the user has asked for it. */
  async show(isAsked = false) {
    nearby.unobserve(this);
    const { state } = this.form.dataset;
    if (!this.form.isConnected || state === "loading" || (state === "failed" && !isAsked)) return;
    this.form.dataset.state = "loading";
    this.verb.data = "Loading";
    this.button.setAttribute("aria-busy", "true");
    if (isAsked) announce("Loading picture");
    try {
      const image = await inTurn(() => this.isConnected && this.#load(state === "failed"));
      if (image) this.#replace(image, isAsked);
      else this.#reset();
    } catch {
      const { label, reason } = await failure(this.url);
      this.#fail(label, reason, isAsked);
    }
    this.button.removeAttribute("aria-busy");
  }

  async #load(isRetry) {
    // The browser keeps a failure for a while.
    if (isRetry) await fetch(this.url, { cache: "reload" });
    const { subject } = this.dataset;
    const image = make("img", { src: this.url, alt: subject ? `Picture of ${subject}` : "Picture" });
    await image.decode();
    return image;
  }

  /** Its entry left the page before it was its turn. */
  #reset() {
    delete this.form.dataset.state;
    this.verb.data = "Show";
  }

  #replace(image, isAsked) {
    shown.add(this.url);
    const hadFocus = this.contains(document.activeElement);
    const title = this.button.title;
    const link = make("a", { href: this.url, target: "_blank", rel: "noopener", title }, image);
    this.replaceChildren(link);
    if (hadFocus) link.focus({ preventScroll: true });
    if (isAsked) announce("Picture loaded");
  }

  #fail(label, reason, isAsked) {
    this.form.dataset.state = "failed";
    this.verb.data = label;
    this.form.querySelector(".picture-note").textContent = "Retry";
    this.button.title = reason;
    this.button.querySelector(".icon").replaceWith(icon("warning"));
    if (isAsked) announce(`Picture not loaded. ${reason}`);
  }
}

/** Why a picture cannot be shown, as {label, reason}: from the browser's cache, as a rule. */
async function failure(url) {
  try {
    const response = await fetch(url);
    if (response.headers.get("content-type")?.startsWith("image/"))
      return { label: "Damaged", reason: "The browser can’t decode the picture." };
    return await response.json();
  } catch {
    return { label: "Not loaded", reason: "The playground can’t be reached, or the page is too old." };
  }
}

// <inline-picture>: a picture whose data is in the response; a sentence if the data is damaged.
class InlinePicture extends HTMLElement {
  connectedCallback() {
    const image = this.querySelector("img");
    if (!image) return;
    image.addEventListener("error", () => this.#fail());
    if (image.complete && !image.naturalWidth) this.#fail();
  }

  #fail() {
    this.replaceChildren(
      make("span", { className: "media-reason" }, "The browser can’t decode the picture."),
    );
  }
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-show-pictures]");
  if (!button) return;
  const response = button.closest("#response");
  // Also for those that are still to come.
  response.dataset.pictures = "always";
  for (const picture of response.querySelectorAll("agent-picture")) picture.showWhenNear();
  response.querySelector(".transcript").focus({ preventScroll: true });
});

customElements.define("agent-picture", AgentPicture);
customElements.define("inline-picture", InlinePicture);
