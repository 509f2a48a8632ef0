// <button class="frame-link" data-frame="7" data-in="events">: opens frame 7 in the Events or the
// Wire tab. A frame that is not on the page yet is fetched by its number, so that a link into a
// flood does not load the flood.

document.addEventListener("click", (event) => {
  const link = event.target.closest(".frame-link");
  if (link) open(link.closest("#response"), link.dataset.in, Number(link.dataset.frame));
});

async function open(response, where, seq) {
  response.querySelector("tab-set").show(`tab-${where}`, { focus: true });
  await { events: showEvent, wire: showBlock }[where](response.dataset.run, seq);
}

/** The detail beside the list says all; the row is marked where it is there. */
async function showEvent(run, seq) {
  for (const row of document.querySelectorAll(".event-open[aria-current]"))
    row.removeAttribute("aria-current");
  const row = document.querySelector(`#event-rows > [data-seq="${seq}"] .event-open`);
  row?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "center" });
  await window.htmx.ajax("GET", `/runs/${run}/events/${seq}/`, {
    target: "#event-detail",
    swap: "innerHTML",
  });
}

async function showBlock(run, seq) {
  const jump = document.getElementById("wire-jump");
  jump.replaceChildren();
  let block = document.querySelector(`#wire-blocks > [data-seq="${seq}"]`);
  if (!block) {
    const url = `/runs/${run}/wire/?offset=${seq - 1}&count=1`;
    await window.htmx.ajax("GET", url, { target: jump, swap: "innerHTML" });
    block = jump.firstElementChild;
  }
  for (const marked of document.querySelectorAll(".wire-block[data-found]")) delete marked.dataset.found;
  if (!block) return;
  block.dataset.found = "";
  block.scrollIntoView({ block: "start" });
}
