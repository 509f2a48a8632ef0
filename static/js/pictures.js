// A picture of an agent that cannot be loaded leaves its place to the words. Its "error" does
// not bubble, hence the capture phase.

document.addEventListener(
  "error",
  (event) => {
    if (event.target instanceof HTMLImageElement && event.target.matches(".card-media")) {
      event.target.hidden = true;
    }
  },
  { capture: true },
);
