// Where this page is in a run: the number of the last frame that it has been told of.
//
// The server replaces the <run-cursor> element with every message, so the cursor is part of
// the page and cannot disagree with what the page shows. A socket that drops is opened again
// by htmx's extension; it asks for what came after the cursor.

const SUMMARY_EVERY_MS = 3000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 4000;
// The server responds, and cannot read its database.
const LONGEST_DELAY_AFTER_FAILURES_MS = 20000;
// Close codes of the server after which the page connects again: it was too slow, reading failed, or
// the server stops.
const RECONNECT_CODES = [4408, 4500, 4503];
const FAILED = 4500;
const SERVICE_RESTART = 1012;

let summarisedAt = 0;
/** How often in a row a socket was opened and then closed because reading had failed. */
let failures = 0;

class RunCursor extends HTMLElement {
  connectedCallback() {
    document.dispatchEvent(new CustomEvent("run:progress", { detail: { ...this.dataset } }));
    summarise(this);
  }
}

/** Tell a screen reader how far the run is: now and then, and at the end, not per event. */
function summarise(cursor) {
  const line = document.getElementById("run-summary");
  const final = "final" in cursor.dataset;
  const now = performance.now();
  if (!line || (!final && now - summarisedAt < SUMMARY_EVERY_MS)) return;
  const word = document.getElementById("run-badge")?.textContent ?? "";
  const figure = document.querySelector('[data-stat="results"], [data-stat="messages"]');
  const count = figure ? `, ${figure.textContent} ${figure.previousElementSibling.textContent}` : "";
  const text = word + count;
  if (line.textContent === text) return;
  summarisedAt = now;
  line.textContent = text;
}

/** Open a run's socket from the cursor on; called for the first socket and every later one. */
function openFromCursor(url) {
  const { last = "0", final } = document.getElementById("run-cursor")?.dataset ?? {};
  return leavable(reconnecting(new WebSocket(`${url}?after=${last}&final=${final === undefined ? 0 : 1}`)));
}

/** Let htmx connect again after the codes of our own; it knows those of the standard only. */
function reconnecting(socket) {
  let handler;
  socket.addEventListener("close", (event) => {
    const { code } = event;
    if (code === FAILED) failures += 1;
    const restart = { code: SERVICE_RESTART, reason: String(code) };
    handler?.call(socket, RECONNECT_CODES.includes(code) ? new CloseEvent("close", restart) : event);
  });
  return Object.defineProperty(socket, "onclose", {
    get: () => handler,
    set(value) {
      handler = value;
    },
  });
}

/**
 * Let a socket that is closed while it connects connect first, unheard. Browsers let it fail
 * instead, and htmx logs the event of that as an error, and may connect anew.
 */
function leavable(socket) {
  const close = socket.close.bind(socket);
  socket.close = (...args) => {
    if (socket.readyState !== WebSocket.CONNECTING) return close(...args);
    socket.onopen = socket.onmessage = socket.onerror = socket.onclose = null;
    return socket.addEventListener("open", () => close(...args));
  };
  return socket;
}

/** Milliseconds until a socket that was lost is tried again: soon, then every few seconds. */
function delayOf(retries) {
  const most = failures ? LONGEST_DELAY_AFTER_FAILURES_MS : LONGEST_DELAY_MS;
  const longest = Math.min(most, FIRST_DELAY_MS * 2 ** Math.max(retries, failures));
  return longest * (0.5 + Math.random() / 2); // Not all pages at once.
}

document.addEventListener("htmx:wsAfterMessage", () => {
  failures = 0;
});
window.htmx.config.wsReconnectDelay = delayOf;
// The extension keeps a function that is already there.
window.htmx.createWebSocket = openFromCursor;
customElements.define("run-cursor", RunCursor);
