// Ignores responses to a form that was changed after it was sent.

/** The requests (XMLHttpRequest) whose responses are late, each with what they must not change. */
const late = new WeakMap();

/**
 * Returns a function that is called when a form was changed: responses to what the form has sent
 * until then are not shown in elements that match `selector`.
 */
export function ignoreLateResponses(form, selector) {
  const sending = new Set();
  form.addEventListener("htmx:beforeRequest", ({ detail }) => sending.add(detail.xhr));
  form.addEventListener("htmx:afterRequest", ({ detail }) => sending.delete(detail.xhr));
  return () => {
    for (const xhr of sending) late.set(xhr, selector);
  };
}

// htmx dispatches it on the target of the form, and not on the one that the response names.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const selector = late.get(detail.xhr);
  if (selector && detail.target.matches(selector)) detail.shouldSwap = false;
});
