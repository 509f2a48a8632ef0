// The follow-up field at the end of the transcript. A follow-up to a turn in progress is sent when
// that turn ends, and others after it; text that is typed during a send is preserved, and so is text
// that was not sent when the page was left.

import { forget, recall, remember } from "../site/storage.js";

const form = () => document.getElementById("follow-up");
const field = () => document.getElementById("follow-up-text");

/** The text that was sent last, to tell it from what was typed after it. */
let sent = "";
/** The texts that wait for the end of a turn, the first of them for the next. */
let queue = [];
/** A queued text, to be sent instead of the text in the field. */
let queuedText;

const draftKey = () => `follow-up.${form().dataset.after}`;

const isPending = () => "unfinished" in (form()?.dataset ?? {});

function showQueue() {
  const note = form()?.querySelector("[data-queue]");
  if (!note) return;
  note.hidden = !queue.length;
  note.querySelector("[data-queued]").textContent = queue.map((text) => `“${text}”`).join(", ");
}

/** Sends the first text that waits; it waits on where another request is under way. */
function sendNext() {
  if (!queue.length || !form()) return;
  queuedText = queue[0];
  form().requestSubmit();
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id !== "follow-up") return;
    if (event.submitter) queuedText = undefined;
    if (event.submitter?.name === "branch") {
      queuedText = queue.at(-1);
      return;
    }
    const text = field().value.trim();
    if (!isPending() || !text) return;
    event.preventDefault();
    event.stopPropagation();
    queue.push(text);
    field().value = "";
    showQueue();
  },
  true,
);

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-unqueue]")) return;
  const text = queue.pop();
  field().value ||= text ?? "";
  showQueue();
  field().focus();
});

/** The last turn has ended: its row lost its mark, or it is the run that is shown. */
document.addEventListener("run:progress", ({ detail }) => {
  if (!form() || !isPending()) return;
  const { after } = form().dataset;
  const row = document.getElementById(`turn-${after}`);
  const isShown = form().closest("#response").dataset.run === after;
  const isOver = isShown ? "final" in detail : row && !("unfinished" in row.dataset);
  if (!isOver) return;
  delete form().dataset.unfinished;
  sendNext();
});

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.id !== "follow-up") return;
  if (queuedText !== undefined) detail.formData.set("text", queuedText);
  queuedText = undefined;
  sent = detail.formData.get("text");
});
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt.id !== "follow-up") return;
  forget(draftKey(), sessionStorage);
  const at = queue.indexOf(sent);
  if (at >= 0) queue.splice(at, 1);
  showQueue();
});
/** A text that was not sent waits on, unless it is still in the field. */
function waitOn({ detail }) {
  if (detail.elt.id !== "follow-up" || field().value === sent) return;
  queue.unshift(sent);
  showQueue();
}
document.addEventListener("htmx:sendError", waitOn);
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 503) waitOn(event); // The server stops.
});

let typed = "";
/** The turn that the texts wait for; undefined while one of them is sent. */
let awaited;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "response") return;
  const isFollowUp = detail.requestConfig?.elt.id === "follow-up";
  const text = field()?.value ?? "";
  typed = isFollowUp && text === sent ? "" : text;
  awaited = isFollowUp ? undefined : form()?.dataset.after;
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "response") return;
  const isOther = awaited && form()?.dataset.after !== awaited;
  if (isOther) typed ||= queue[0] ?? "";
  if (isOther || !form()) queue = [];
  if (!form()) return;
  if (typed) field().value = typed;
  showQueue();
  if (!isPending()) sendNext();
});

// Browsers restore no fields of a page that they may not store. "pagehide" may run after the next
// page was opened, or never.
function keep() {
  if (field()?.value) remember(draftKey(), field().value, sessionStorage);
  else if (form()) forget(draftKey(), sessionStorage);
}
document.addEventListener("input", ({ target }) => target.id === "follow-up-text" && keep());
window.addEventListener("pagehide", keep);
if (form()) {
  field().value ||= recall(draftKey(), sessionStorage) ?? "";
}
