// Colours JSON in <pre class="json"> with the browser's highlight registry: no
// markup is added, so copying and selecting work as in plain text. Browsers without it show
// plain text.

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Colouring more than this would be felt while scrolling. */
const MAX_LENGTH = 40_000;
const NAMES = ["json-key", "json-string", "json-word", "json-number"];

const supported = "highlights" in CSS;
if (supported) for (const name of NAMES) CSS.highlights.set(name, new Highlight());

/** Colours every block inside `root` that is not coloured yet. */
export function highlight(root = document) {
  if (!supported) return;
  forget();
  for (const block of root.querySelectorAll("pre.json:not([data-coloured])")) {
    block.dataset.coloured = "";
    const text = block.firstChild;
    if (text instanceof Text && text.length <= MAX_LENGTH) colour(text);
  }
}

function colour(text) {
  for (const found of text.data.matchAll(TOKENS)) {
    const [whole, string, colon, word] = found;
    const name = string ? (colon ? "json-key" : "json-string") : word ? "json-word" : "json-number";
    const range = new StaticRange({
      startContainer: text,
      startOffset: found.index,
      endContainer: text,
      endOffset: found.index + (string ?? whole).length,
    });
    CSS.highlights.get(name).add(range);
  }
}

/** Drops the ranges of blocks that have left the page. */
function forget() {
  for (const name of NAMES) {
    const ranges = CSS.highlights.get(name);
    for (const range of ranges) if (!range.startContainer.isConnected) ranges.delete(range);
  }
}

document.addEventListener("htmx:afterSettle", (event) => highlight(event.target.parentElement ?? document));
// What a websocket brings settles without a word; most of it has nothing to colour.
document.addEventListener("htmx:oobAfterSwap", ({ target }) => {
  if (target.querySelector?.("pre.json:not([data-coloured])")) highlight(target);
});
document.addEventListener("toggle", (event) => event.target.open && highlight(event.target), true);
highlight();
