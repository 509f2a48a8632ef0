// The marked event: the one that the pointer rests on, or the focus is in. Its card, its mark in
// the timeline, its row in Events and its block in Wire have data-marked, those that are loaded
// later as well. It stays marked until another one is, so that it is found in the next tab.

const SHOWN = ":is(.cards > *, .summaries > *, .event, .wire-block, .mark)";
/** The pointer passes over others on its way to a tab. */
const REST_MS = 120;

/** {run, seq, card, panel}: the card and the panel in which it was marked. */
let marked;
/** The panel that was opened to look for it. */
let searched;
let timer;

document.addEventListener("pointerover", ({ target }) => {
  clearTimeout(timer);
  const source = target.closest?.(`${SHOWN}[data-seq]`);
  if (source) timer = setTimeout(() => mark(source), REST_MS);
});
document.addEventListener("focusin", ({ target }) => {
  const source = target.closest(`${SHOWN}[data-seq]`);
  if (source) mark(source);
});
document.addEventListener("tab:show", ({ target }) => {
  if (!marked || !target.closest("#response")) return;
  searched = target === marked.panel ? undefined : target;
  apply();
});
for (const name of ["htmx:afterSettle", "part:drawn"])
  document.addEventListener(name, () => {
    if (marked) apply();
  });

function mark(source) {
  const card = source.matches(".event, .wire-block, .mark") ? undefined : source;
  const run = runOf(source);
  const seq = seqOf(source);
  if (!run) return; // The page of a share has neither tabs nor a timeline.
  searched = undefined;
  if (marked?.run === run && marked.seq === seq && marked.card === card) return;
  marked = { run, seq, card, panel: source.closest('[role="tabpanel"]') };
  apply();
}

function runOf(element) {
  return element.closest("[data-run]")?.dataset.run;
}

/** The number of an element's event. That of a body which is no stream is known at its end. */
function seqOf(element) {
  let last = element;
  while (last.dataset.kind === "body" && last.nextElementSibling) last = last.nextElementSibling;
  return Number(last.dataset.seq);
}

function apply() {
  const found = new Set(elementsOf(marked));
  for (const element of document.querySelectorAll("[data-marked]"))
    if (!found.has(element)) delete element.dataset.marked;
  for (const element of found) element.dataset.marked = "";
  const place = [...found].find((element) => searched?.contains(element));
  if (!place) return;
  searched = undefined;
  reveal(place);
}

/** Scrolls to an element, and again when those before it, until now of an estimated size, are drawn. */
function reveal(element, times = 3) {
  element.scrollIntoView({ block: "nearest" });
  if (times > 1) requestAnimationFrame(() => reveal(element, times - 1));
}

function* elementsOf({ run, seq, card }) {
  for (const element of document.querySelectorAll(`${SHOWN}[data-seq="${seq}"]`)) {
    if (runOf(element) !== run) continue;
    // Of several results in one frame only the card itself is meant.
    if (card && card !== element && element.matches(".cards > *, .summaries > *")) continue;
    yield element;
    let body = element.matches('.wire-block[data-kind="end"]') && element.previousElementSibling;
    for (; body && body.dataset.kind === "body"; body = body.previousElementSibling) yield body;
  }
  for (const element of document.querySelectorAll(".mark[data-last]"))
    if (element.dataset.seq <= seq && seq <= element.dataset.last && runOf(element) === run) yield element;
}
