// The table of protocols that a page has, for modules that read it there.

/** Puts a table into the page. */
export function putRows(rows) {
  const element = { textContent: JSON.stringify(rows) };
  globalThis.document = { getElementById: (id) => (id === "protocols" ? element : null) };
}
