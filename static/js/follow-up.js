// The follow-up field at the end of the transcript. A follow-up to a turn in progress is sent when
// that turn ends, and others after it; text that is typed during a send is preserved.

const form = () => document.getElementById("follow-up");
const field = () => document.getElementById("follow-up-text");

/** The text that was sent last, to tell it from what was typed after it. */
let sent = "";
/** The texts that wait for the end of a turn, the first of them for the next. */
let queue = [];

const isPending = () => "unfinished" in (form()?.dataset ?? {});

function showQueue() {
  const note = form()?.querySelector("[data-queue]");
  if (!note) return;
  note.hidden = !queue.length;
  note.querySelector("[data-queued]").textContent = queue.map((text) => `“${text}”`).join(", ");
}

/** Lets the form be submitted with a text in place of that which is being typed. */
function submitInstead(text) {
  const input = field();
  const typing = input.value;
  input.value = text;
  setTimeout(() => (input.value = typing));
}

/** Sends the first text that waits. */
function sendNext() {
  if (!queue.length || !form()) return;
  submitInstead(queue.shift());
  form().requestSubmit();
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id !== "follow-up") return;
    if (event.submitter?.name === "branch") {
      if (queue.length) submitInstead(queue.pop());
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
  field().value = queue.pop() ?? "";
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

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt.id === "follow-up") sent = field().value;
});

let typed = "";
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "response") return;
  const isFollowUp = detail.requestConfig?.elt.id === "follow-up";
  const text = field()?.value ?? "";
  typed = isFollowUp && text === sent ? "" : text;
  if (!isFollowUp) queue = [];
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "response" || !field()) return;
  if (typed) field().value = typed;
  showQueue();
  if (!isPending()) sendNext();
});
