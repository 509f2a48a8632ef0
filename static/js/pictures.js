// An image of an agent that cannot be loaded is replaced by an empty box of the same size, so that
// nothing moves. Its "error" does not bubble, hence the capture phase.

import { make } from "./dom.js";

document.addEventListener(
  "error",
  (event) => {
    if (event.target instanceof HTMLImageElement && event.target.matches(".card-media")) {
      event.target.replaceWith(make("span", { className: "card-media" }));
    }
  },
  { capture: true },
);
