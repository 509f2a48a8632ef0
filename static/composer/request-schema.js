// Which schema the request in the composer has: it follows the protocol, the version and the operation.

import { operationIn } from "./protocols.js";

/** The schema of the request that a form composes: "nlweb/0.55/ask-request". */
export function composedSchema(form) {
  return `${form.dataset.protocol}/${form.elements.version.value}/${operationIn(form).schema}`;
}
