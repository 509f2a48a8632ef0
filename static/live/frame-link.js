// <button class="frame-link" data-frame="7" data-in="events">: opens frame 7 in the Events or the
// Wire tab. A frame that is not on the page yet is fetched by its number, so that a link into a
// flood does not load the flood. The focus goes to the frame: its row, or what shows it.

import { giveFocus } from "../site/focus.js";

/** How long the first page of a list is waited for; without it the frame is fetched by itself. */
const PATIENCE_MS = 10_000;

document.addEventListener("click", (event) => {
  const link = event.target.closest(".frame-link");
  if (link) open(link.closest("#response"), link.dataset.in, Number(link.dataset.frame));
});

// The same from elsewhere: "frame:show" with {where, seq} on the response.
document.addEventListener("frame:show", ({ target, detail }) => open(target, detail.where, detail.seq));

async function open(response, where, seq) {
  response.querySelector("tab-set").show(`tab-${where}`);
  const items = document.querySelector(`#tab-${where} [data-items]`);
  if (!items.firstElementChild) await filled(items);
  const shown = items.querySelector(`:scope > [data-seq="${seq}"]`);
  await { events: showEvent, wire: showBlock }[where](response.dataset.run, seq, shown);
}

/** Resolves when a list has got its first items, or after a while. */
function filled(items) {
  return new Promise((resolve) => {
    const done = () => {
      observer.disconnect();
      clearTimeout(timer);
      resolve();
    };
    const observer = new MutationObserver(done);
    observer.observe(items, { childList: true });
    const timer = setTimeout(done, PATIENCE_MS);
  });
}

/** The detail beside the list says all; the row is marked where it is there. */
async function showEvent(run, seq, row) {
  for (const marked of document.querySelectorAll(".event-open[aria-current]"))
    marked.removeAttribute("aria-current");
  row?.querySelector(".event-open").setAttribute("aria-current", "true");
  if (row) reach(row, row.querySelector(".event-open"));
  const url = `/runs/${run}/events/${seq}/`;
  await window.htmx.ajax("GET", url, { source: "#event-detail", target: "#event-detail", swap: "innerHTML" });
  if (!row) reach(document.querySelector("#event-detail h3"));
}

/** Brings a part of the page into view, and the focus to it (or to a control in it). */
function reach(part, control = part) {
  if (control === part) part.tabIndex = -1;
  part.scrollIntoView({ block: "start" });
  giveFocus(control, { preventScroll: true });
}

async function showBlock(_, seq, shown) {
  const jump = document.getElementById("wire-jump");
  jump.replaceChildren();
  for (const marked of document.querySelectorAll(".wire-block[data-found]")) delete marked.dataset.found;
  if (!shown) {
    const { url: blocks } = jump.parentElement.querySelector("paged-list").dataset;
    const url = `${blocks}?offset=${seq - 1}&count=1&open=1`;
    await window.htmx.ajax("GET", url, { source: jump, target: jump, swap: "innerHTML" });
  }
  const block = shown ?? jump.firstElementChild;
  if (!block) return;
  block.dataset.found = "";
  reach(block);
}
