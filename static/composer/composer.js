// <request-composer> wraps the form #composer and keeps its parts together: whether it can be
// sent, and why not. Emits on the form: "composer:change" (what would be sent has changed),
// "composer:invalid" (it cannot be read at the moment).

import { make } from "../site/dom.js";
import { keysOf } from "./json-pointer.js";
import { ignoreLateResponses } from "../site/late-responses.js";
import { isEmpty, operationOf, titleIn, wordsField } from "./protocols.js";
import { documentOf } from "./request-document.js";
import { recall, remember } from "../site/storage.js";

/** Everything that sends, if nothing is wrong: the form's button, and that of the empty response pane. */
const SUBMITS = '#composer [type="submit"]:not([name]), [type="submit"][form="composer"]';

/** Characters of a query that the title of the page shows. */
const MAX_TITLE = 60;

/** Whether the effective request is open. */
const FOLD_KEY = "effective";

class RequestComposer extends HTMLElement {
  connectedCallback() {
    if (this.form) return;
    this.form = this.querySelector("form");
    this.document = documentOf(this.form);
    this.note = this.querySelector("[data-send-note]");
    this.send = this.querySelector('button[type="submit"]');
    this.document.addEventListener("change", () => this.#changed());
    this.form.elements.headers.addEventListener("change", () => this.#emit("composer:change"));
    this.form.addEventListener("htmx:configRequest", (event) => this.#guard(event));
    this.ignoreLateResponses = ignoreLateResponses(this.form, "#compose-problems");
    this.form.addEventListener("htmx:afterRequest", (event) => this.#sent(event));
    this.form.addEventListener("composer:load", () => this.#clearProblems());
    this.querySelector("[data-raw-file]").addEventListener("change", (event) => this.#readFile(event));
    this.toggle = this.querySelector(".effective-toggle");
    this.toggle.addEventListener("click", () => this.#fold(this.toggle.ariaExpanded === "true"));
    this.#fold(recall(FOLD_KEY) !== "open");
    this.#show();
  }

  get isSendable() {
    return !this.document.obstacle;
  }

  submit() {
    if (this.isSendable) this.form.requestSubmit(this.send);
  }

  /** Folds the effective request to a line, or opens it. */
  #fold(isFolded) {
    this.toggle.ariaExpanded = String(!isFolded);
    remember(FOLD_KEY, isFolded ? "closed" : "open");
  }

  #changed() {
    this.#show();
    this.#emit(this.isSendable ? "composer:change" : "composer:invalid");
  }

  /** What kept the last send back says nothing of what has changed since, even if it comes late. */
  #clearProblems() {
    this.ignoreLateResponses();
    this.querySelector("#compose-problems")?.replaceChildren();
  }

  #emit(name) {
    this.#clearProblems();
    this.form.dispatchEvent(new CustomEvent(name, { bubbles: true }));
  }

  #show() {
    const { obstacle, error, root } = this.document;
    for (const button of document.querySelectorAll(SUBMITS)) button.disabled = Boolean(obstacle);
    // The text can be sent; what a field holds and cannot be written into it cannot.
    this.#say(obstacle, Boolean(error) || root.type !== "object");
    // What is shown of the request stays out of date until it is shown anew.
    if (obstacle) this.toggleAttribute("data-stale", true);
    this.toggleAttribute("data-broken", Boolean(error));
    this.querySelector("[data-fix-json]").hidden = !error;
    this.querySelector("[data-form-fields]").inert = Boolean(error);
    if (error) return;
    for (const section of this.querySelectorAll("[data-member]")) this.#showSection(section);
    if (this.document.node(["raw"])) this.querySelector("[data-raw]").open = true;
  }

  /** A section of another type has no fields: shows that, and offers to replace it. */
  #showSection(section) {
    const { member, type = "object" } = section.dataset;
    const keys = keysOf(member);
    const node = this.document.node(keys);
    section.querySelector(".section-note")?.remove();
    if (!node || node.type === type || this.document.root.type !== "object") return;
    const [name, empty] = type === "array" ? ["a list", "[]"] : ["an object", "{}"];
    const button = make("button", { type: "button", className: "btn btn-small" }, `Replace with ${empty}`);
    button.addEventListener("click", () => this.document.set(keys, empty));
    const kind = { null: "null", array: "a list", object: "an object" }[node.type] ?? `a ${node.type}`;
    section.prepend(
      make(
        "p",
        { className: "section-note" },
        `“${keys[0]}” must be ${name}. In the JSON it is ${kind}.`,
        button,
      ),
    );
  }

  /** Stops what cannot be sent; a request without words on the field that lacks them. */
  #guard(event) {
    if (event.target === this.form && event.detail.parameters.anyway) return;
    if (!this.isSendable && event.target.matches("#composer, #effective")) event.preventDefault();
    if (event.target !== this.form) return;
    const { protocol } = this.form.dataset;
    const value = this.document.value([]);
    if (!this.isSendable || value.raw || !isEmpty(protocol, value)) return;
    event.preventDefault();
    this.querySelector("tab-set").show("tab-request");
    const field = wordsField(this.form);
    const { missing } = operationOf(protocol, value);
    field?.complain(missing);
    this.#say(field ? "" : missing, true);
    (field ?? this.querySelector(".form-section:not([hidden]) [data-add]")).focus();
  }

  /** Says at the button why nothing is sent (null: nothing stands in the way), and offers to send it. */
  #say(why, canSendAnyway) {
    const props = { type: "submit", name: "anyway", value: "1", className: "btn btn-small" };
    const buttons = canSendAnyway ? [make("button", props, "Send anyway")] : [];
    this.note.replaceChildren(...(why ? [`${why} `] : []), ...buttons);
    this.note.toggleAttribute("data-obstacle", Boolean(why));
  }

  /** Makes a file the body of a raw request: its text, or its bytes in Base64. */
  async #readFile({ target }) {
    if (!target.files.length) return;
    const bytes = new Uint8Array(await target.files[0].arrayBuffer());
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const isText = !text.includes("\ufffd");
    const base64 = () => btoa(bytes.reduce((all, byte) => all + String.fromCharCode(byte), ""));
    this.document.set(["raw", "body"], JSON.stringify(isText ? text : base64()));
    if (isText) this.document.remove(["raw", "encoding"]);
    else this.document.set(["raw", "encoding"], '"base64"');
  }

  #sent(event) {
    // htmx takes a 422 for a success, because what it says is shown.
    const { successful, xhr } = event.detail;
    if (event.target !== this.form || !successful || xhr.status >= 400) return;
    this.#clearProblems();
    this.form.classList.remove("composer--first");
    const text = titleIn(this.form.dataset.protocol, this.document.value([])).slice(0, MAX_TITLE);
    document.title = `${text} · NLWeb Playground`;
  }
}

customElements.define("request-composer", RequestComposer);
