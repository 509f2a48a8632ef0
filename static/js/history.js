// Keeps the history in the sidebar current: after a send, and when the run has ended. The
// search box knows how to fetch it, whatever is searched for.

function refresh() {
  const box = document.querySelector(".side-search input");
  if (box) window.htmx.trigger(box, "history:refresh");
}

function mark() {
  const run = document.querySelector("#response[data-run]")?.dataset.run;
  for (const link of document.querySelectorAll(".history a")) {
    if (link.dataset.run === run) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/** Whether the run, or what came of it, was seen under way: its end is then worth fetching. */
let awaited = false;
let ended = false;

document.addEventListener("htmx:afterSwap", (event) => {
  const { id } = event.detail.target;
  if (id === "history") document.addEventListener("pane:show", mark);
  mark();
  // Another tab shows its run: nothing was sent.
  if (id !== "response" || event.detail.requestConfig?.elt.localName === "request-tabs") return;
  awaited = true;
  ended = false;
  refresh();
});
document.addEventListener("run:progress", ({ detail }) => {
  const isSettled = "settled" in detail;
  if (!("final" in detail)) awaited = true;
  else if (awaited && (isSettled || !ended)) refresh();
  ended = "final" in detail;
  awaited = !isSettled; // A promise may be followed then, or an action be under way.
});
document.addEventListener("pane:show", mark);
mark();
