// Reports that the playground itself does not respond, or responds with an error, and that the
// websocket of a run in progress was lost. One failure is reported once: while the run says that the
// connection was lost, requests that the page makes by itself fail silently.

import { toast } from "./toasts.js";

const UNAVAILABLE = 503;

/** The note about the connection that is shown, until the next response. */
let shown;

/** Whether the user made a request, by a click or by submitting a form. */
const isByUser = ({ requestConfig }) => ["click", "submit"].includes(requestConfig?.triggeringEvent?.type);

document.addEventListener("htmx:sendError", ({ detail }) => {
  if (document.querySelector("[data-lost]") && !isByUser(detail)) return;
  shown = toast(
    "The playground does not respond.",
    "Is the server still running? The composed request is stored in this window; try again later.",
    { level: "error" },
  );
});
document.addEventListener("htmx:responseError", (event) => {
  const { status, responseText } = event.detail.xhr;
  if (status === UNAVAILABLE) {
    // Its page says what is unavailable, and what has become of the request.
    const page = new DOMParser().parseFromString(responseText, "text/html");
    toast(page.querySelector("h1")?.textContent, page.querySelector("p")?.textContent, { level: "error" });
    return;
  }
  const why = status === 403 ? "The session is no longer valid: reload the page." : "See its log.";
  toast(`The playground responded with ${status}.`, why, { level: "error" });
});
// Other errors stay until they are read: pages ask for many things by themselves.
document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.successful) shown?.remove();
});

/** Close codes of the server: no such run or link (any more); reading it failed. */
const NOT_FOUND = 4404;
const FAILED = "4500";

/** What shows the run of a socket: the response, or the page of a collection run or of a share. */
const shows = ({ target }) => target.closest?.("#response, .collection-run-page, .share");

/** Why a socket was closed, from its event. The reason is that of live/run-connection.js. */
function whyLost({ code, reason } = {}) {
  if (code === NOT_FOUND)
    return "No longer updated: the run was deleted, the link was revoked or has expired, or the session has ended.";
  if (reason === FAILED) return "The playground could not read the run. Trying again…";
  return "Connection to the playground lost, reconnecting…";
}

/** Marks it as cut off from the playground, unless nothing more was to come. */
function lost(event) {
  const part = shows(event);
  const note = part?.querySelector("#run-lost");
  if (!note || part.querySelector("[data-settled]")) return;
  const socketEvent = event.detail?.event;
  part.dataset.lost = socketEvent?.reason ?? "";
  note.textContent = whyLost(socketEvent);
  shown?.remove(); // A request had failed just before.
}

/** Marks it as connected. */
function found(event) {
  const part = shows(event);
  delete part?.dataset.lost;
  part?.querySelector("#run-lost")?.replaceChildren();
}

document.addEventListener("htmx:wsClose", lost);
document.addEventListener("htmx:wsError", lost);
document.addEventListener("htmx:wsOpen", (event) => {
  // A socket opens although its run still cannot be read: then a message has to arrive first.
  if (shows(event)?.dataset.lost !== FAILED) found(event);
});
document.addEventListener("htmx:wsAfterMessage", found);
