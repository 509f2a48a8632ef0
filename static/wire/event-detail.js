// The event that is looked at: its row is marked, and it can be put away again.

import { announce } from "../site/dom.js";

document.addEventListener("click", (event) => {
  const row = event.target.closest(".event-open");
  if (row) mark(row);
  const detail = event.target.closest("[data-close-detail]") && event.target.closest("#event-detail");
  if (!detail) return;
  detail.replaceChildren();
  document.querySelector(".event-open[aria-current]")?.focus();
  mark(null);
});

// All of its data and bytes would take minutes to hear.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  const title = target.id === "event-detail" && target.querySelector("h3");
  if (title) announce(`${title.textContent}: data shown.`);
});

function mark(chosen) {
  for (const row of document.querySelectorAll(".event-open[aria-current]"))
    row.removeAttribute("aria-current");
  chosen?.setAttribute("aria-current", "true");
}
