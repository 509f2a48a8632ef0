// The page of a reference: leads to the attribute that a link names where it is described in another
// document, and marks the document in view in the contents. All links of the page work without.

import { announce } from "../site/dom.js";
import { describedAt } from "./anchors.js";

class ReferenceDocuments extends HTMLElement {
  connectedCallback() {
    addEventListener("hashchange", this.#lead);
    this.observer = new IntersectionObserver(() => this.#mark(), { threshold: [0, 1] });
    for (const each of this.querySelectorAll(".reference-document")) this.observer.observe(each);
    this.#lead();
    this.#mark();
  }

  disconnectedCallback() {
    removeEventListener("hashchange", this.#lead);
    this.observer.disconnect();
  }

  #lead = () => {
    const name = location.hash.slice(1);
    if (!name || document.getElementById(name) || document.getElementById(decoded(name))) return;
    const found = describedAt(decoded(name), (id) => {
      const element = document.getElementById(id);
      return element && { documents: (element.dataset.documents ?? "").split(" ").filter(Boolean) };
    });
    // Replaced, so that Back leaves the page.
    if (found) location.replace(`#${found}`);
  };

  #mark() {
    const top = 120;
    const sections = [...this.querySelectorAll(".reference-document")];
    const current = sections.find((each) => each.getBoundingClientRect().bottom > top);
    const name = current?.getAttribute("aria-labelledby");
    for (const link of document.querySelectorAll(".reference-contents a")) {
      if (link.getAttribute("href") === `#${name}`) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  }
}

// The filter has replaced the documents, and with them their number.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  const count = target.id === "reference-body" && document.querySelector(".reference-contents [data-count]");
  if (count) announce(count.textContent);
});

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

customElements.define("reference-documents", ReferenceDocuments);
