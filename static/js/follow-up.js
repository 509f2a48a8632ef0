// The follow-up field at the end of the transcript. A follow-up to a turn in progress is sent when
// that turn ends; text that is typed during a send is preserved.

const form = () => document.getElementById("follow-up");
const field = () => document.getElementById("follow-up-text");

/** The text that was sent last, to tell it from what was typed after it. */
let sent = "";
let queued = false;

const isPending = () => "unfinished" in (form()?.dataset ?? {});

function queue(on) {
  queued = on;
  form().querySelector("[data-queue]").hidden = !on;
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id !== "follow-up") return;
    const isBranch = event.submitter?.name === "branch";
    if (!isPending() || isBranch || !field().value.trim()) return;
    event.preventDefault();
    event.stopPropagation();
    queue(true);
  },
  true,
);

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-unqueue]")) return;
  queue(false);
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
  if (queued) form().requestSubmit();
  queued = false;
});

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt.id === "follow-up") sent = field().value;
});

let typed = "";
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "response") return;
  const isFollowUp = detail.requestConfig?.elt.id === "follow-up";
  const text = field()?.value ?? "";
  typed = isFollowUp && text === sent ? "" : text;
  queued = false;
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "response" || !typed || !field()) return;
  field().value = typed;
});
