// Loads pictures.js when the first <agent-picture> appears: <body data-picture-module="URL">.

const NAME = "agent-picture";
let isLoaded = false;

function load(part) {
  if (isLoaded || (!part.matches?.(NAME) && !part.querySelector(NAME))) return;
  isLoaded = true;
  import(document.body.dataset.pictureModule).catch(() => {
    isLoaded = false; // The playground is not available; the next picture tries again.
  });
}

document.addEventListener("htmx:load", ({ target }) => load(target));
load(document);
