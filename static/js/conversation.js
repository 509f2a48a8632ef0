// What continues a conversation from within the response: the answer that comes gets the focus,
// and its name the title of the page. A composer that sends keeps the focus where it was, unless
// its pane is put away, as on a phone: then the answer gets it, too.

import { giveFocus } from "./focus.js";

const MAX_TITLE = 60;

document.addEventListener("htmx:afterSettle", (event) => {
  const { target, requestConfig } = event.detail;
  if (target?.id !== "response") return;
  const response = document.getElementById("response");
  const continues = requestConfig?.elt.closest("[data-continues]");
  if (continues || isFocusLost()) giveFocus(response.querySelector(".runbar"));
  if (!continues) return;
  const text = response.dataset.title ?? "";
  if (text) document.title = `${text.slice(0, MAX_TITLE)} · NLWeb Playground`;
});

// The browser takes the focus from what is hidden only when it paints.
function isFocusLost() {
  const { activeElement } = document;
  return activeElement === document.body || !activeElement?.checkVisibility();
}
