// Says so when the playground itself does not answer, or answers with an error, and when the
// socket of a run that is still under way has gone.

import { toast } from "./toasts.js";

/** The note that is shown about the connection: the answer that comes next takes it away. */
let shown;

document.addEventListener("htmx:sendError", () => {
  shown = toast(
    "The playground does not answer.",
    "Is the server still running? What you composed is kept here; try again when it is back.",
    { level: "error" },
  );
});
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  const why = status === 403 ? "The session is no longer valid: reload the page." : "Its log says more.";
  toast(`The playground answered ${status}.`, why, { level: "error" });
});
// Other errors stay until they are read: pages ask for many things by themselves.
document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.successful) shown?.remove();
});

/** What shows the run of a socket: the response, or the page of a collection run. */
const shows = ({ target }) => target.closest?.("#response, .collection-run-page");

/** Marks it as cut off from the playground, unless nothing more was to come. */
function lost(event) {
  const part = shows(event);
  const note = part?.querySelector("#run-lost");
  if (!note || part.querySelector("[data-settled]")) return;
  part.toggleAttribute("data-lost", true);
  note.textContent = "Connection to the playground lost, reconnecting…";
}

document.addEventListener("htmx:wsClose", lost);
document.addEventListener("htmx:wsError", lost);
document.addEventListener("htmx:wsOpen", (event) => {
  const part = shows(event);
  part?.removeAttribute("data-lost");
  part?.querySelector("#run-lost")?.replaceChildren();
});
