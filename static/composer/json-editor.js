// <json-editor> around the `document` textarea: the JSON view of the request, a tab or, where that
// was chosen and the pane is wide enough, beside the form. The code editor is loaded when the view is
// first shown; without it the textarea does the work.

import { indent } from "./json-edit.js";
import { parse } from "./json-text.js";
import { documentOf } from "./request-document.js";
import { forget, recall, remember } from "../site/storage.js";

/** What some programs put before a text: not JSON, and not to be seen. */
const BOM = "\uFEFF";

/** Narrower than this (in CSS pixels), a pane has no room for form and JSON side by side. */
const MIN_WIDTH = 600;
/** The width that the pane is given for both, and the window that has room for such a pane. */
const [PANE_WIDTH, MIN_WINDOW] = [704, 1180];

class JsonEditor extends HTMLElement {
  connectedCallback() {
    if (this.area) return;
    this.area = this.querySelector("textarea");
    this.problem = this.querySelector(".json-problem");
    this.document = documentOf(this);
    this.area.addEventListener("input", () => {
      if (this.area.value.startsWith(BOM)) this.area.value = this.area.value.slice(1);
      this.document.reread(this);
    });
    this.document.addEventListener("change", ({ detail }) => this.#changed(detail.origin, detail.isOther));
    this.querySelector("[data-format]").addEventListener("click", () => this.#format());
    const panel = this.closest('[role="tabpanel"]');
    panel.addEventListener("tab:show", () => this.#load());
    if (!panel.hidden) this.#load();
    this.#changed(this);
    startBeside(this.closest("tab-set"), panel);
  }

  async #load() {
    const address = document.body.dataset.editor;
    if (this.loading || !address) return;
    this.loading = true;
    try {
      const { mount } = await import(address);
      this.editor = mount({
        area: this.area,
        check: (text) => problemOf(text),
        changed: (text) => this.document.write(text, this),
      });
      this.dataset.editor = "code";
    } catch (error) {
      console.warn("The code editor could not be loaded; using the plain text field.", error);
    }
  }

  #changed(origin, isOther) {
    if (isOther) this.editor?.load(this.document.text);
    else if (origin !== this) this.editor?.write(this.document.text);
    const { error, obstacle } = this.document;
    this.problem.textContent = error ? error.sentence : (obstacle ?? "");
    this.area.setAttribute("aria-invalid", String(Boolean(error)));
    this.querySelector("[data-format]").disabled = Boolean(error);
  }

  /** Indents the text anew. The button works only while the text is valid. */
  #format() {
    this.document.write(indent(this.document.text));
  }
}

function problemOf(text) {
  try {
    parse(text);
    return null;
  } catch (error) {
    return error;
  }
}

/** Shows the JSON beside the form where that is chosen and there is room for both. */
function startBeside(tabs, panel) {
  const button = tabs.querySelector("[data-json-beside]");
  const tab = tabs.querySelector(`[aria-controls="${panel.id}"]`);
  const isChosen = () => recall("json-beside") === "on";
  const show = () => {
    const width = tabs.offsetWidth;
    if (!width) return;
    const isBeside = isChosen() && width >= MIN_WIDTH;
    button.hidden = width < MIN_WIDTH && innerWidth < MIN_WINDOW;
    if (isBeside === "beside" in panel.dataset) return;
    for (const each of [panel, tabs]) each.toggleAttribute("data-beside", isBeside);
    button.ariaPressed = String(isBeside);
    tab.hidden = isBeside;
    panel.role = isBeside ? "region" : "tabpanel";
    panel.hidden = !isBeside && tab.ariaSelected !== "true";
    tabs.settle();
    if (isBeside) panel.dispatchEvent(new CustomEvent("tab:show", { bubbles: true }));
  };
  button.addEventListener("click", () => {
    const isOn = !("beside" in panel.dataset);
    remember("json-beside", isOn ? "on" : "off");
    if (isOn && tabs.offsetWidth < MIN_WIDTH) {
      remember("size.compose.before", recall("size.compose") ?? "");
      setWidth(PANE_WIDTH);
    } else if (!isOn && recall("size.compose.before") !== null) {
      setWidth(Number(recall("size.compose.before")));
      forget("size.compose.before");
    }
    show();
  });
  new ResizeObserver(show).observe(tabs);
  show();
}

/** Gives the compose pane a width, with 0 its own again. */
function setWidth(width) {
  const { style } = document.documentElement;
  if (width) style.setProperty("--compose-width", `${width}px`);
  else style.removeProperty("--compose-width");
  remember("size.compose", width ? String(width) : "");
}

customElements.define("json-editor", JsonEditor);
