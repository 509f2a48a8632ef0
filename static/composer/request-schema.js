// Which schema the request in the composer has: it follows the protocol, the version and the operation.

/** The schema of the request that a form composes: "nlweb/0.55/ask-request". */
export function composedSchema(form) {
  const { protocol, operation } = form.dataset;
  const version = form.elements.version.value;
  const await_ = operation === "await" ? "await-request" : "ask-request";
  return `${protocol}/${version}/${protocol === "nlweb" ? await_ : "request"}`;
}
