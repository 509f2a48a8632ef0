// What the composer has to know of each protocol: a first request, where its words are, and
// what it carries of a conversation.

const NLWEB = {
  carried: [
    ["context", "prev"],
    ["meta", "session_context"],
  ],
  lack: (document) =>
    operationOf(document) === "await"
      ? "Enter a promise token: promise_token is required."
      : "Enter a query: query.text is required.",
  fields: { ask: '[data-pointer="/query/text"]', await: '[data-pointer="/promise_token"]' },
  fresh: (text, version) => ({ query: { text }, prefer: { streaming: true }, meta: { version } }),
  words: (document) => String(document?.query?.text ?? ""),
  /** The name of a request: its query, or the action of an await request. */
  title: (document) => (operationOf(document) === "await" ? textOf(document.action) : NLWEB.words(document)),
  isEmpty: (document) =>
    operationOf(document) === "await"
      ? !String(document.promise_token ?? "").trim()
      : !NLWEB.words(document).trim(),
};

const AGENT_API = {
  carried: [["session_id"], ["response_id"]],
  lack: () => "Enter a message: a request needs one.",
  fields: { ask: '[data-pointer^="/input/"][data-pointer$="/text"]' },
  fresh: (text) => ({
    input: [{ role: "user", type: "message", content: [{ type: "text", text }] }],
    stream: true,
  }),
  /** The text of the user's last message. */
  words: (document) => {
    const said = listOf(document?.input).findLast(({ role = "user" }) => role === "user");
    return typeof said?.content === "string"
      ? said.content
      : listOf(said?.content)
          .map(({ text }) => textOf(text))
          .join(" ");
  },
  title: (document) => AGENT_API.words(document),
  isEmpty: (document) => {
    const { input = [] } = document ?? {};
    // What is no list of messages is wrong rather than empty: the server says in which way.
    if (!Array.isArray(input) || listOf(input).length < input.length) return false;
    const parts = input.flatMap(({ content }) =>
      typeof content === "string" ? [{ text: content }] : listOf(content),
    );
    return parts.every(({ text, image_url: image, data }) => !textOf(text).trim() && !image && !data);
  },
};

const PROTOCOLS = { nlweb: NLWEB, "agent-api": AGENT_API };

/** Their names, the default first. */
export const PROTOCOL_NAMES = Object.keys(PROTOCOLS);

/** The language of a protocol by its name; that of NLWeb for one that is not known. */
export const language = (name) => PROTOCOLS[name] ?? NLWEB;

/** The title of a request: of a raw one its method and path. */
export function titleIn(protocol, document) {
  const { method = "POST", path = "" } = document?.raw ?? {};
  return document?.raw ? `${method} ${path}`.trim() : language(protocol).title(document);
}

/** The language that a form composes in. */
export const languageOf = (form) => language(form.dataset.protocol);

/** The text of a first request with these words. */
export function freshText(protocol, words, version) {
  return JSON.stringify(language(protocol).fresh(words, version), null, 2);
}

/** The control that the words are written into. */
export function wordsField(form) {
  const { fields } = languageOf(form);
  return form.querySelector(`json-field${fields[form.dataset.operation] ?? fields.ask}`);
}

/** The operation of an NLWeb request: "await" for one with a promise token, else "ask". */
export function operationOf(document) {
  const isAwait = document instanceof Object && "promise_token" in document && !("query" in document);
  return isAwait ? "await" : "ask";
}

/** Shows the sections of the form's protocol and operation, and hides the others. */
export function showSections(form) {
  const { protocol, operation = "ask" } = form.dataset;
  for (const section of form.querySelectorAll(".form-section, request-operation")) {
    const { protocol: own, operation: only = operation } = section.dataset;
    section.hidden = own !== protocol || only !== operation;
  }
}

/** Shows the sections and the versions of a protocol, and hides those of the others. */
export function showProtocol(form, protocol, version) {
  form.dataset.protocol = protocol;
  showSections(form);
  const select = form.elements.version;
  for (const option of select.options) option.hidden = option.disabled = option.dataset.of !== protocol;
  const own = [...select.options].filter((option) => !option.disabled);
  select.value = (own.find(({ value }) => value === version) ?? own.at(-1))?.value ?? "";
}

const textOf = (value) => (typeof value === "string" ? value : "");
const listOf = (value) => (Array.isArray(value) ? value.filter((each) => each instanceof Object) : []);
