// A window on a long list: <paged-list data-url data-count="entries"> with a [data-items]
// container and a [data-more] button.
//
// The run's cursor says how many there are; this element shows how many are not on the page
// yet, fetches the next page when the button is pressed or scrolls into view, and offers a
// "12 new" pill to a reader who is not at the end. With data-push the server pushes the first
// window itself and only what lies beyond it is fetched.

const AT_END_PX = 80;

class PagedList extends HTMLElement {
  connectedCallback() {
    this.items = this.querySelector("[data-items]");
    this.button = this.querySelector("[data-more]");
    this.following = false;
    this.lastTop = 0;
    this.abort = new AbortController();
    const { signal } = this.abort;
    document.addEventListener("run:progress", () => this.update({ isProgress: true }), { signal });
    this.button.addEventListener("click", () => this.fetchMore(), { signal });
    this.addEventListener("change", (event) => event.target.matches("[data-order]") && this.restart(), {
      signal,
    });
    this.scroller = this.closest("[data-scroller]") ?? this.closest(".tabpanel");
    this.panel = this.closest(".tabpanel");
    this.scroller.addEventListener("scroll", () => this.onScroll(), { signal, passive: true });
    this.watcher = new IntersectionObserver((entries) => {
      this.visible = entries.some((entry) => entry.isIntersecting);
      if (this.visible) this.fetchMore();
    });
    this.watcher.observe(this.button);
    // A panel that was hidden knows nothing yet: look again once it is shown.
    this.resizer = new ResizeObserver(() => this.update());
    this.resizer.observe(this.scroller);
    this.update();
  }

  disconnectedCallback() {
    this.abort.abort();
    this.watcher.disconnect();
    this.resizer.disconnect();
    this.pill?.remove();
  }

  get order() {
    return this.querySelector("[data-order]")?.value ?? "arrival";
  }

  get cursor() {
    return document.getElementById("run-cursor")?.dataset ?? {};
  }

  get total() {
    const { count, countByIndex } = this.dataset;
    return Number(this.cursor[(this.order === "index" && countByIndex) || count] ?? 0);
  }

  /** True while a menu in the list is open: it would move away. */
  get hasMenu() {
    return Boolean(this.items.querySelector(".action-menu:popover-open"));
  }

  get shown() {
    return this.items.children.length;
  }

  /**
   * Show how many items are missing, and scroll to the end if the reader was there. After the run
   * has ended only its actions make progress: then the list does not scroll.
   */
  update({ isProgress = false } = {}) {
    if (this.panel.hidden) return;
    // What is still growing has no order but that of its arrival.
    const choice = this.querySelector(".order");
    if (choice) choice.hidden = !("final" in this.cursor);
    const missing = this.exhausted ? 0 : Math.max(0, this.total - this.shown);
    this.button.hidden = missing === 0;
    if (missing) this.button.textContent = `${missing.toLocaleString("en")} more`;
    // What was there at the first look, and what begins in view, is no news.
    if (this.seen === undefined) this.seen = this.total;
    this.seen = Math.max(this.seen, this.begunInView());
    const isOver = "final" in this.cursor;
    const isPassed = isProgress && this.isOver;
    this.isOver = isOver;
    if (this.following && !isPassed && !this.hasMenu) this.toEnd();
    else this.showPill(isOver ? 0 : this.total - this.seen);
    if (missing && (this.visible || (!this.shown && !("push" in this.dataset)))) this.fetchMore();
  }

  async fetchMore() {
    if (this.fetching || this.shown >= this.total || this.panel.hidden) return;
    this.fetching = true;
    const before = this.shown;
    const url = `${this.dataset.url}?offset=${before}&order=${this.order}`;
    try {
      // The source, because htmx lets requests of one element wait for each other and drops
      // all but the last; without one, all parts of the page would be one element.
      await window.htmx.ajax("GET", url, { source: this, target: this.items, swap: "beforeend" });
      // Not every frame with results is one row, so the end may come before the count.
      this.exhausted = this.order === "index" && this.shown === before;
    } finally {
      this.fetching = false;
    }
    if (this.again) return this.restart();
    this.button.hidden = this.shown >= this.total || this.exhausted;
    if (this.shown > before) this.update();
  }

  /** Begin anew in another order; what is on its way in the old one is thrown away. */
  restart() {
    this.items.replaceChildren();
    this.exhausted = false;
    this.again = this.fetching;
    return this.fetchMore();
  }

  /** Follows once the reader has gone into the list and to its end; only going up ends that. */
  onScroll() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    // The start of a turn is scrolled to while it has no entries: that is not going to the end.
    const isWithin = this.items.getBoundingClientRect().top < this.scroller.getBoundingClientRect().top;
    const isAtEnd = isWithin && scrollTop + clientHeight >= scrollHeight - AT_END_PX;
    // What arrives while one is on the way down moves the end away, which is not going up.
    if (isAtEnd) this.following = true;
    else if (scrollTop < this.lastTop) this.following = false;
    this.lastTop = scrollTop;
    if (isAtEnd) {
      this.seen = this.total;
      this.showPill(0);
    }
  }

  /** How many items begin above the lower edge. They stand in order, so halving finds it. */
  begunInView() {
    const { children } = this.items;
    const edge = this.scroller.getBoundingClientRect().bottom;
    let low = 0;
    for (let high = children.length; low < high;) {
      const middle = (low + high) >> 1;
      if (children[middle].getBoundingClientRect().top < edge) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Go to the end and stay there. */
  toEnd() {
    this.following = true;
    this.seen = this.total;
    this.showPill(0);
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  showPill(added) {
    if (added <= 0) {
      this.pill?.remove();
      this.pill = undefined;
      return;
    }
    if (!this.pill) {
      this.pill = document.createElement("button");
      this.pill.type = "button";
      this.pill.className = "pill";
      this.pill.addEventListener("click", () => this.toEnd());
      const foot = this.panel.querySelector(".transcript-foot");
      if (foot) foot.prepend(this.pill);
      else this.scroller.after(this.pill);
    }
    this.pill.textContent = `${added.toLocaleString("en")} new`;
  }
}

customElements.define("paged-list", PagedList);
