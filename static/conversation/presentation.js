// The presentation view: the transcript alone, large, for a projector. One key shows and leaves it.
// For the demo agent it has a control of the pace, which requests get as a header.

import { announce } from "../site/dom.js";

const PACE_HEADER = "Demo-Pace";
const root = document.documentElement;
const pace = document.querySelector("[data-demo-pace]");

export const canPresent = () => document.querySelector("work-bench #response[data-run]") !== null;

export function togglePresentation() {
  const isOn = root.toggleAttribute("data-present");
  if (isOn) {
    document.querySelector("work-bench").show("outcome");
    document.querySelector("#response tab-set").show("tab-results");
    if (pace) pace.hidden = !asksDemo();
  } else document.querySelector(".transcript")?.focus({ preventScroll: true });
  announce(isOn ? "Presentation view. Press P to leave it." : "Presentation view closed.");
}

// From the field of a follow-up Escape leads back to the transcript, where P is a key and no letter.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape" || target.id !== "follow-up-text" || !root.hasAttribute("data-present")) return;
  document.querySelector(".transcript").focus({ preventScroll: true });
});

/** Whether the composer's target is the demo agent of this playground. */
function asksDemo() {
  const { agent, address } = document.forms.composer.elements;
  const url = address.value || agent.selectedOptions[0]?.dataset.url;
  return URL.canParse(url) && /^\/demo(\/|$)/.test(new URL(url).pathname) && isHere(new URL(url));
}

/** 127.0.0.1 and localhost are one machine, and the page can be open under either. */
const isHere = ({ host, port, hostname }) =>
  host === location.host || (port === location.port && /^(localhost|127\.0\.0\.1)$/.test(hostname));

/** The composer's headers as JSON, with the pace in place of another. */
function withPace(headers) {
  const others = JSON.parse(headers || "[]").filter(([name]) => name !== PACE_HEADER);
  const { value } = pace.querySelector("select");
  return JSON.stringify(value === "1" ? others : [...others, [PACE_HEADER, value]]);
}

// Follow-ups, answers and outputs include the composer's headers.
document.addEventListener("htmx:configRequest", ({ detail: { formData } }) => {
  if (!pace || pace.hidden || !root.hasAttribute("data-present") || !formData.has("headers")) return;
  try {
    formData.set("headers", withPace(formData.get("headers")));
  } catch {
    // The composer's headers are not valid JSON, and the server says so.
  }
});
