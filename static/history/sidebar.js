// Keeps the history in the sidebar current: after a send, and when the run has ended. The search box
// reloads it, whatever is searched for. Collection runs that are expanded stay so.

const list = document.getElementById("history");

function refresh() {
  const box = document.querySelector(".side-search input");
  if (box) window.htmx.trigger(box, "history:refresh");
}

function mark() {
  const run = document.querySelector("#response[data-run]")?.dataset.run;
  for (const link of list?.querySelectorAll("[data-run]") ?? []) {
    if (link.dataset.run === run) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/** Keys of the expanded collection runs, before the list is replaced. */
let expanded = [];

list?.addEventListener("htmx:beforeSwap", ({ target }) => {
  if (target !== list) return;
  expanded = [...list.querySelectorAll("details[open]")].map(({ dataset }) => dataset.collectionRun);
});
list?.addEventListener("htmx:afterSettle", () => {
  for (const group of list.querySelectorAll("details:not([open])"))
    if (expanded.includes(group.dataset.collectionRun)) group.open = true;
  expanded = [];
});

/** Whether the run, or a child run, was seen in progress: its end is then worth loading. */
let awaited = false;
let ended = false;

document.addEventListener("htmx:afterSwap", (event) => {
  const { id } = event.detail.target;
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
  awaited = !isSettled; // A promise may be polled then, or an action be in progress.
});
document.addEventListener("pane:show", mark);
// The page of a collection run in progress: it has a row here, too.
if (document.querySelector("#collection-run-progress:not([data-settled])"))
  document.addEventListener("htmx:oobAfterSwap", function reload() {
    if (!document.querySelector("#collection-run-progress[data-settled]")) return;
    document.removeEventListener("htmx:oobAfterSwap", reload);
    refresh();
  });
