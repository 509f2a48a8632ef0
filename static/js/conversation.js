// What continues a conversation from within the response: the answer that comes gets the focus,
// and its name the title of the page. A composer that sends keeps the focus where it was.

const MAX_TITLE = 60;

document.addEventListener("htmx:afterSettle", (event) => {
  const { target, requestConfig } = event.detail;
  if (target?.id !== "response" || !requestConfig?.elt.closest("[data-continues]")) return;
  const response = document.getElementById("response");
  response.querySelector(".runbar")?.focus();
  const text = response.dataset.title ?? "";
  if (text) document.title = `${text.slice(0, MAX_TITLE)} · NLWeb Playground`;
});
