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
    if (block.textContent.length <= MAX_LENGTH) colour(block);
  }
}

function colour(block) {
  const place = placesIn(block);
  for (const found of block.textContent.matchAll(TOKENS)) {
    const [whole, string, colon, word] = found;
    const name = string ? (colon ? "json-key" : "json-string") : word ? "json-word" : "json-number";
    const [startContainer, startOffset] = place(found.index);
    const [endContainer, endOffset] = place(found.index + (string ?? whole).length);
    CSS.highlights.get(name).add(new StaticRange({ startContainer, startOffset, endContainer, endOffset }));
  }
}

/**
 * What finds the text node, and the place in it, of a place in the text of a block: variables are
 * elements of their own in it. To be asked for one place after another, never back.
 */
function placesIn(block) {
  const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let node = nodes.nextNode();
  let start = 0;
  return (place) => {
    while (place - start > node.length) {
      start += node.length;
      node = nodes.nextNode();
    }
    return [node, place - start];
  };
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
