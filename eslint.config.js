import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["static/build/", "node_modules/", ".venv/", "var/"] },
  js.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
          property,
          message: "What agents send is text: use textContent, or let htmx swap what a template made.",
        })),
      ],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  { files: ["static/bundle.js", "tests/js/**"], languageOptions: { globals: globals.node } },
  { files: ["tests/firefox/**"], languageOptions: { globals: { ...globals.browser, ...globals.node } } },
];
