// <library-tree>: the collections in the sidebar. Which are unfolded is kept in a cookie, so that
// the server sends those with the page; the request that is open is marked. Arrow keys go up and
// down, and fold and unfold.

const KEPT_S = 365 * 24 * 3600;
const form = document.getElementById("composer");

class LibraryTree extends HTMLElement {
  connectedCallback() {
    // "toggle" does not bubble.
    this.addEventListener("toggle", () => this.#keep(), { capture: true });
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("htmx:afterSettle", () => this.#mark());
    // Whatever shows another request says so at the form.
    if (form) new MutationObserver(() => this.#mark()).observe(form, { attributeFilter: ["data-tab"] });
    this.#mark();
  }

  #keep() {
    const keys = [...this.querySelectorAll("details[open]")].map(({ dataset }) => dataset.key);
    const value = encodeURIComponent(keys.join(" "));
    document.cookie = `playground_unfolded=${value}; path=/; max-age=${KEPT_S}; samesite=lax`;
  }

  #mark() {
    const open = form?.elements.saved?.value;
    for (const link of this.querySelectorAll("[data-saved]")) {
      if (link.dataset.saved === open) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  #key(event) {
    const at = event.target;
    const fold = at.closest("summary")?.parentElement;
    if (event.key === "ArrowDown") this.#go(at, 1);
    else if (event.key === "ArrowUp") this.#go(at, -1);
    else if (event.key === "ArrowRight" && fold && !fold.open) fold.open = true;
    else if (event.key === "ArrowLeft" && fold?.open) fold.open = false;
    else if (event.key === "ArrowLeft") outer(fold ?? at)?.firstElementChild.focus();
    else return;
    event.preventDefault();
  }

  #go(from, step) {
    const rows = [...this.querySelectorAll("summary, [data-saved], .more")];
    const seen = rows.filter((row) => row.checkVisibility());
    seen[seen.indexOf(from) + step]?.focus();
  }
}

/** What an entry is inside of. */
function outer(entry) {
  return entry.parentElement.closest("details");
}

customElements.define("library-tree", LibraryTree);
