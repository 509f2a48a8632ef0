// htmx rejects with nothing where a request was given up, for another one or for another page:
// that is no error of anybody's, and nobody has to hear of it.

window.addEventListener("unhandledrejection", (event) => {
  if (event.reason === undefined) event.preventDefault();
});
