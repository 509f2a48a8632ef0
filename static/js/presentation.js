// The presentation view: the transcript alone, large, for a projector. One key shows and leaves it.

import { announce } from "./dom.js";

const root = document.documentElement;

export const canPresent = () => document.querySelector("work-bench #response[data-run]") !== null;

export function togglePresentation() {
  const isOn = root.toggleAttribute("data-present");
  if (isOn) {
    document.querySelector("work-bench").show("outcome");
    document.querySelector("#response tab-set").show("tab-results");
  }
  announce(isOn ? "Presentation view. Press P to leave it." : "Presentation view closed.");
}
