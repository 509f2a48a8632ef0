// What scrolls must be reachable by keyboard: fragments that overflow once they have arrived
// get a place in the tab order.

const REGIONS = ".event-detail, .event-detail pre, .card-raw pre";

document.addEventListener("htmx:afterSettle", (event) => {
  const part = event.target.closest(".event-detail, .card-raw") ?? event.target;
  for (const region of [part, ...part.querySelectorAll(REGIONS)]) {
    if (region.matches(REGIONS) && region.scrollHeight > region.clientHeight) region.tabIndex = 0;
  }
});
