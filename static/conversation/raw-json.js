// The JSON behind an entry, fetched when it is asked for:
// <raw-json data-seq="7" data-part="0"></raw-json>. Ten thousand cards then cost ten thousand
// small elements and not ten thousand documents.

class RawJson extends HTMLElement {
  connectedCallback() {
    if (this.firstElementChild) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "raw-toggle";
    button.textContent = "JSON";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => this.toggle(button));
    this.append(button);
  }

  toggle(button) {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    if (!this.output) {
      this.output = document.createElement("div");
      this.append(this.output);
      const run = this.closest("[data-run]").dataset.run;
      const url = `/runs/${run}/items/${this.dataset.seq}/${this.dataset.part}/`;
      window.htmx.ajax("GET", url, { source: this, target: this.output, swap: "innerHTML" });
    }
    this.output.hidden = !open;
  }
}

customElements.define("raw-json", RawJson);
