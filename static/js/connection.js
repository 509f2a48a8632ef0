// Says so when the playground itself does not answer, or answers with an error.

import { iconButton, make } from "./dom.js";

function toast(title, text) {
  const note = make("div", { className: "toast" }, make("p", {}, make("strong", {}, title), ` ${text}`));
  note.append(iconButton("close", "Dismiss", () => note.remove()));
  document.getElementById("toasts").replaceChildren(note);
}

document.addEventListener("htmx:sendError", () => {
  toast(
    "The playground does not answer.",
    "Is the server still running? What you composed is kept here; try again when it is back.",
  );
});
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  const why = status === 403 ? "The session is no longer valid: reload the page." : "Its log says more.";
  toast(`The playground answered ${status}.`, why);
});
document.addEventListener("htmx:afterOnLoad", () => document.getElementById("toasts").replaceChildren());
