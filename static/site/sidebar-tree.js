// <sidebar-tree>: the collections in the sidebar. A cookie stores which nodes are expanded, so that
// the server sends those with the page; the open request is marked. Arrow keys move up and down, and
// expand and collapse.

const MAX_AGE_S = 365 * 24 * 3600;
const form = document.getElementById("composer");

class SidebarTree extends HTMLElement {
  connectedCallback() {
    // "toggle" does not bubble.
    this.addEventListener("toggle", () => this.#store(), { capture: true });
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("htmx:afterSettle", () => this.#mark());
    // Whatever shows another request sets an attribute of the form.
    if (form) new MutationObserver(() => this.#mark()).observe(form, { attributeFilter: ["data-tab"] });
    this.#mark();
  }

  #store() {
    const keys = [...this.querySelectorAll("details[open]")].map(({ dataset }) => dataset.key);
    const value = encodeURIComponent(keys.join(" "));
    document.cookie = `playground_unfolded=${value}; path=/; max-age=${MAX_AGE_S}; samesite=lax`;
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
    const node = at.closest("summary")?.parentElement;
    if (event.key === "ArrowDown") this.#go(at, 1);
    else if (event.key === "ArrowUp") this.#go(at, -1);
    else if (event.key === "ArrowRight" && node && !node.open) node.open = true;
    else if (event.key === "ArrowLeft" && node?.open) node.open = false;
    else if (event.key === "ArrowLeft") parentNode(node ?? at)?.firstElementChild.focus();
    else return;
    event.preventDefault();
  }

  #go(from, step) {
    const rows = [...this.querySelectorAll("summary, [data-saved], .more")];
    const visible = rows.filter((row) => row.checkVisibility());
    visible[visible.indexOf(from) + step]?.focus();
  }
}

/** The node that an entry is in. */
const parentNode = (entry) => entry.parentElement.closest("details");

customElements.define("sidebar-tree", SidebarTree);
