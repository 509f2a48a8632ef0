// What is typed into password fields, over a swap of their form: the server sends no secret back, so
// the page itself keeps what was typed until the form has been saved.

/** Keeps them for the forms inside `root`. */
export function typedSecrets(root) {
  let typed = [];
  root.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const fields = detail.xhr.status === 422 ? detail.target.querySelectorAll("input[type=password]") : [];
    typed = [...fields].filter(({ value }) => value).map(({ name, value }) => [name, value]);
  });
  root.addEventListener("htmx:afterSwap", () => {
    for (const [name, value] of typed) {
      const field = root.querySelector(`input[type=password][name="${CSS.escape(name)}"]`);
      if (field) field.value = value;
    }
    typed = [];
  });
}
