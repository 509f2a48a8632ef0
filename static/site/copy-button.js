// <copy-button for="id" [label="Copy"]>: copies the value or the text of an element; with
// src="url" instead of for, the text at a URL.

import { announce, icon, make } from "./dom.js";

const SHOWN_MS = 1600;

class CopyButton extends HTMLElement {
  connectedCallback() {
    if (this.button) return;
    const label = this.getAttribute("label") ?? "Copy";
    this.text = make("span", {}, label);
    this.button = make(
      "button",
      { type: "button", className: "btn btn-quiet btn-small", title: label },
      icon("copy"),
      this.text,
    );
    this.button.addEventListener("click", () => this.#copy(label));
    this.append(this.button);
  }

  /** The text to copy; undefined if it cannot be fetched. */
  async #read() {
    const url = this.getAttribute("src");
    if (url) {
      const response = await fetch(url).catch(() => undefined);
      return response?.ok ? response.text() : undefined;
    }
    const source = document.getElementById(this.getAttribute("for"));
    return source.value ?? source.textContent;
  }

  async #copy(label) {
    const text = await this.#read();
    const done = text !== undefined && (await write(text));
    this.text.textContent = done ? "Copied" : "Not copied";
    this.toggleAttribute("data-done", done);
    announce(this.text.textContent);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.text.textContent = label;
      this.removeAttribute("data-done");
    }, SHOWN_MS);
  }
}

/** Puts a text on the clipboard; whether that was possible. */
export async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeTheOldWay(text); // no permission, or a page that is not served securely
  }
}

function writeTheOldWay(text) {
  const area = make("textarea", { value: text, className: "visually-hidden" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

customElements.define("copy-button", CopyButton);
