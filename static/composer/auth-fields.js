// <auth-fields>: how a request authenticates, written as JSON into the form's field `auth`. Secrets
// are named, never typed.

class AuthFields extends HTMLElement {
  connectedCallback() {
    if (this.field) return;
    const { form } = this.querySelector("select");
    this.field = form.elements.auth;
    this.addEventListener("input", () => this.#write(form));
    form.addEventListener("composer:load", () => this.#show());
    this.#show();
  }

  /** The controls that the chosen way has, by their names in the JSON. */
  #show() {
    let auth = {};
    try {
      auth = JSON.parse(this.field.value || "{}");
    } catch {
      // Shown as nothing; it stays as it is until something is chosen.
    }
    for (const control of this.querySelectorAll("[data-auth]"))
      control.value = auth[control.dataset.auth] ?? "";
    this.#settle();
  }

  #settle() {
    const type = this.querySelector("select").value;
    for (const row of this.querySelectorAll("[data-for]"))
      row.hidden = !row.dataset.for.split(" ").includes(type);
    document.getElementById("compose-tab-auth").toggleAttribute("data-filled", Boolean(type));
  }

  #write(form) {
    this.#settle();
    const used = [...this.querySelectorAll("[data-auth]")].filter((control) => !control.closest("[hidden]"));
    const auth = Object.fromEntries(used.map(({ dataset, value }) => [dataset.auth, value.trim()]));
    this.field.value = auth.type ? JSON.stringify(auth) : "";
    form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));
  }
}

customElements.define("auth-fields", AuthFields);
