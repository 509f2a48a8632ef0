// <annotated-block>: bytes and their meanings. Choosing a meaning marks its bytes, and choosing
// bytes, by pointer or by selection, marks their meaning. The arrow keys go through the meanings.

class AnnotatedBlock extends HTMLElement {
  connectedCallback() {
    this.bytes = this.querySelector(".annotated-bytes");
    if (!this.bytes) return;
    this.meanings = [...this.querySelectorAll(".meaning")];
    if (this.meanings.length) this.#nameOf(this.meanings[0]).tabIndex = 0;
    this.bytes.addEventListener("click", ({ target }) => this.#chooseAt(target));
    this.addEventListener("focusin", ({ target }) => {
      const meaning = target.closest(".meaning-name")?.closest(".meaning");
      if (meaning) this.#choose(meaning, this.bytes);
    });
    this.addEventListener("keydown", (event) => this.#onKey(event));
    // One that got the focus before this script was loaded.
    const focused = this.querySelector(".meaning-name:focus")?.closest(".meaning");
    if (focused) this.#choose(focused, this.bytes);
  }

  /** Marks the meaning of the bytes in which a node is. */
  chooseAt(node) {
    this.#chooseAt(node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
  }

  #chooseAt(element) {
    const part = element?.closest("[data-part]");
    const meaning = part && this.meanings[Number(part.dataset.part) - 1];
    if (meaning) this.#choose(meaning, meaning.parentElement);
  }

  #nameOf(meaning) {
    return meaning.querySelector(".meaning-name");
  }

  /** Marks a meaning and its bytes, and scrolls `scrolled`, one of the columns, to them. */
  #choose(meaning, scrolled) {
    if (this.chosen === meaning) return;
    if (this.chosen) {
      this.#nameOf(this.chosen).tabIndex = -1;
      this.#nameOf(this.chosen).removeAttribute("aria-current");
    }
    this.chosen = meaning;
    this.#nameOf(meaning).tabIndex = 0;
    this.#nameOf(meaning).setAttribute("aria-current", "true");
    const [first, last] = [Number(meaning.dataset.part), Number(meaning.dataset.last)];
    let start;
    for (const part of this.bytes.querySelectorAll("[data-part]")) {
      const isWithin = first <= part.dataset.part && part.dataset.part <= last;
      part.toggleAttribute("data-chosen", isWithin);
      if (isWithin) start ??= part;
    }
    scrollWithin(scrolled, scrolled === this.bytes ? start : meaning);
  }

  #onKey(event) {
    const meaning = event.target.closest(".meaning-name")?.closest(".meaning");
    if (!meaning) return;
    const at = this.meanings.indexOf(meaning);
    const next = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: this.meanings.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const found = this.meanings[next];
    if (!found) return;
    this.#nameOf(found).focus({ preventScroll: true });
    scrollWithin(found.parentElement, found);
    found.scrollIntoView({ block: "nearest" });
  }
}

/** Scrolls a column so that a part of it is visible, without moving the page. */
function scrollWithin(column, part) {
  if (!part) return;
  const [outer, inner] = [column.getBoundingClientRect(), part.getBoundingClientRect()];
  if (inner.top < outer.top) column.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom)
    column.scrollTop += Math.min(inner.bottom - outer.bottom, inner.top - outer.top);
}

// A selection in the bytes, also one that is made with the keyboard.
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  const bytes = selection.anchorNode?.parentElement?.closest(".annotated-bytes");
  if (bytes) bytes.closest("annotated-block").chooseAt(selection.anchorNode);
});

customElements.define("annotated-block", AnnotatedBlock);
