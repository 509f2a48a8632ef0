// Moments in the time zone of the reader. The server writes them in its own, for pages without scripts:
// <local-time><time datetime="2026-03-29T00:30:05Z">29 March 2026, 00:30:05</time></local-time>.

class LocalTime extends HTMLElement {
  connectedCallback() {
    const time = this.querySelector("time");
    time.textContent = inLocalTime(time.dateTime, time.textContent);
  }
}

// A title is written when it is about to be shown: a live message may have set it again.
document.addEventListener("pointerover", ({ target }) => {
  const time = target.closest("time[title]");
  if (time) time.title = inLocalTime(time.dateTime, time.title);
});

/** A moment in the format of a text, "29 March 2026, 00:30:05" or "29 March 2026, 00:30". */
export function inLocalTime(moment, text, timeZone) {
  const date = new Date(moment);
  const second = /:\d\d:/.test(text) ? "2-digit" : undefined;
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone });
  const clock = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second, timeZone });
  return `${day}, ${clock}`;
}

customElements.define("local-time", LocalTime);
