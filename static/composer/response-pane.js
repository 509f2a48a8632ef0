// The response pane beside tabs: it shows the run of the tab that is shown. What comes for another
// tab, because one has gone on meanwhile, is for that tab to show later.

import { make } from "../site/dom.js";

const pane = () => document.getElementById("response");

/** The pane for a run that is being fetched, or with "" for none. */
function paneFor(run) {
  const props = { id: "response", className: "response", "aria-label": "Response" };
  if (!run) return make("section", props, document.getElementById("no-run").content.cloneNode(true));
  const wait = make("p", { className: "response-wait hint", role: "status" }, "Loading…");
  const section = make("section", props, wait);
  section.dataset.run = run;
  return section;
}

/** The run goes on; nobody looks at it any more. */
function closeSocket() {
  const socket = document.getElementById("run-socket");
  if (socket && window.htmx) window.htmx.trigger(socket, "htmx:beforeCleanupElement");
}

export class RequestPane {
  /** `source` is the element in whose name runs are fetched. */
  constructor(source) {
    this.source = source;
    /** The tab that each request was sent from. */
    this.senders = new WeakMap();
  }

  /** Shows a run, or with "" what the pane is for. */
  show(run, live) {
    if (live) window.htmx.trigger(this.source, "htmx:abort");
    if ((pane().dataset.run ?? "") === run) return;
    const section = paneFor(run);
    closeSocket();
    pane().replaceWith(section);
    document.dispatchEvent(new CustomEvent("pane:show"));
    if (!run) return;
    const fetch = () => this.fetch(run);
    if (live) fetch();
    else document.addEventListener("DOMContentLoaded", fetch, { once: true });
  }

  /** Fetches the response of a run, and shows it in the place of the one that is there. */
  fetch(run) {
    const settings = { source: this.source, target: "#response", swap: "outerHTML" };
    return window.htmx.ajax("GET", `/runs/${run}/response/`, settings);
  }

  /**
   * Follows what is sent: `current` is the tab that is shown, `sending` hears of the element that
   * sends, `sent` of each new run.
   */
  listen({ current, sending, sent }) {
    let sender = null;
    document.addEventListener("htmx:beforeRequest", ({ detail }) => {
      if (detail.target?.id !== "response") return;
      this.senders.set(detail.xhr, current());
      if (detail.elt !== this.source) sending(detail.elt);
      if (detail.elt !== this.source) window.htmx.trigger(this.source, "htmx:abort");
    });
    document.addEventListener("htmx:beforeSwap", ({ detail }) => {
      const { xhr, target } = detail;
      const tab = this.senders.get(xhr);
      if (target.id !== "response" || !tab) return;
      sender = detail.requestConfig.elt;
      if (tab === current()) return;
      detail.shouldSwap = false;
      const place = xhr.getResponseHeader("HX-Push-Url");
      if (place) sent(tab, place, sender);
    });
    document.addEventListener("htmx:pushedIntoHistory", ({ detail }) => sent(current(), detail.path, sender));
  }
}
