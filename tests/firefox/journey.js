// A user's journey in Firefox, over WebDriver BiDi: node journey.js FIREFOX URL DIRECTORY
//
// The playground at URL has two agents besides its own: "quick" answers without delays, "slow" takes its
// time between two results. A step that fails says which one it was and leaves a screenshot in DIRECTORY.

import assert from "node:assert/strict";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

// Everything that the journey knows of the page: elements by CSS selector, accessible name and text. A
// string is the whole name, a pattern a part of it.
const BUTTON = "button, [role=button], summary";
const FIELD = "input, textarea, select";
const PAGE = {
  send: { css: BUTTON, name: /^Send\b/ },
  query: { css: "textarea", name: /^text( required)?$/ },
  state: { css: "#run-badge" },
  response: { css: "#response[data-run]" },
  results: { css: "#cards > *" },
  stop: { css: BUTTON, name: /^Stop\b/ },
  followUp: { css: FIELD, name: /^Ask (next|a follow-up)/ },
  options: ["vegan", "tofu", "20-40 minutes"].map((name) => ({ css: "#cards label", name })),
  answer: { css: BUTTON, name: "Answer" },
  fulfilled: { css: '#response [data-status="fulfilled"]' },
  promised: { css: "#cards .card-title" },
  action: { css: "#cards button", name: /^Save recipe/ },
  run: { css: BUTTON, name: "Run action" },
  confirm: { css: BUTTON, name: "Send POST" },
  actionResult: { css: "#cards .child", text: /"saved": true/ },
  saveDialog: { css: "dialog[open]" },
  saveName: { css: `dialog[open] :is(${FIELD})`, name: "Name" },
  saveWhere: { css: "dialog[open] select", name: "Collection" },
  saveCollection: { css: `dialog[open] :is(${FIELD})`, name: "Name of the new collection" },
  save: { css: "dialog[open] button", name: "Save" },
  tab: { css: '[role=tablist][aria-label="Open requests"] [role=tab]' },
  newTab: { css: BUTTON, name: "Open a new tab" },
  theme: { css: BUTTON, name: "Theme" },
  themes: { css: "#theme-menu button" },
};

// What htmx and Firefox log when a page is left while it loads a part, and when a websocket is closed
// while it opens: the run has ended, or the page is left.
const EXPECTED = /^htmx:(sendAbort|afterRequest)|^The connection to ws:.* was interrupted|^\[object Event\]$/;
const PATIENCE = 15_000;
const [firefox, base, directory] = process.argv.slice(2);

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath: firefox,
  headless: true,
  // Nothing but this machine is reached: Firefox takes no proxy to it, and there is none.
  extraPrefsFirefox: {
    "network.proxy.type": 1,
    ...Object.fromEntries(["http", "ssl"].map((scheme) => [`network.proxy.${scheme}`, "127.0.0.1"])),
    ...Object.fromEntries(["http", "ssl"].map((scheme) => [`network.proxy.${scheme}_port`, 9])),
  },
});
// No browser is left behind, whatever hangs.
setTimeout(() => {
  console.error("The journey took too long.");
  browser.process().kill("SIGKILL");
  process.exit(1);
}, 90_000).unref();
const page = await browser.newPage();
await page.setViewport({ width: 1440, height: 900 });

const errors = [];
const note = (text) => EXPECTED.test(text) || errors.push(text);
page.on("pageerror", (error) => note(error.message));
page.on("console", (message) => message.type() === "error" && note(message.text()));
await page.evaluateOnNewDocument(() => {
  document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`Refused by the content security policy: ${event.violatedDirective} ${event.blockedURI}`),
  );
});

/** A pattern of PAGE as its source, which can be handed to the page; a string is a name as a whole. */
const pattern = (value) => (typeof value === "string" ? `^${value}$` : (value?.source ?? ""));

/** The visible elements that an entry of PAGE describes. */
async function all({ css, name, text }) {
  const list = await page.evaluateHandle(
    (css, name, text) => {
      const line = (value) => value.replace(/\s+/g, " ").trim();
      const nameOf = (element) =>
        element.getAttribute("aria-label") ?? (element.labels?.[0] ?? element).textContent;
      return [...document.querySelectorAll(css)].filter(
        (element) =>
          element.checkVisibility() &&
          new RegExp(name).test(line(nameOf(element))) &&
          new RegExp(text).test(line(element.textContent)),
      );
    },
    css,
    pattern(name),
    pattern(text),
  );
  const found = [...(await list.getProperties()).values()].map((each) => each.asElement());
  return found.filter(Boolean);
}

/** Wait until `condition` returns something that is true, and return it. */
async function until(what, condition) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    // A page that is being left has no document for a moment.
    const value = await Promise.resolve(condition()).catch(() => null);
    if (value) return value;
    assert(Date.now() < deadline, `Waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const describe = (target) => Object.values(target).join(" ");
const first = (target) => until(describe(target), async () => (await all(target))[0]);
const click = async (target) => (await first(target)).click();
const count = async (target) => (await all(target)).length;
const gone = (target) => until(`${describe(target)} to disappear`, async () => !(await count(target)));
const attribute = async (target, name) =>
  (await first(target)).evaluate((element, name) => element.getAttribute(name), name);
const runId = async () => (await count(PAGE.response)) && attribute(PAGE.response, "data-run");
const inState = (state) =>
  until(`the state ${state}`, async () => (await attribute(PAGE.state, "data-state")) === state);

/** Replace what a field holds by typing. */
async function type(target, text) {
  const field = await first(target);
  await field.focus();
  await field.evaluate((element) => element.select());
  await page.keyboard.type(text);
}

/** Do something that starts a run, and wait until that run is shown. */
async function started(act) {
  const before = await runId();
  await act();
  await until("a new run", async () => {
    const now = await runId();
    return now && now !== before;
  });
}

/** Open the workbench with a request filled in, and send it. */
async function ask(agent, text) {
  await page.goto(`${base}/?${new URLSearchParams({ agent, text })}`);
  await until(`the query “${text}”`, async () =>
    (await first(PAGE.query)).evaluate((field, text) => field.value === text, text),
  );
  await started(() => click(PAGE.send));
}

const STEPS = {
  async "first send"() {
    await page.goto(base);
    assert.equal(await page.evaluate(() => document.activeElement.localName), "body");
    await started(() => click(PAGE.send));
    await inState("completed");
    assert((await count(PAGE.results)) > 1);
    assert(page.url().startsWith(`${base}/runs/`), page.url());
  },

  async "new tab beside the last one"() {
    const gap = async () => {
      const [tab, button] = [(await all(PAGE.tab)).at(-1), (await all(PAGE.newTab)).at(-1)];
      return tab.evaluate(
        (tab, button) => button.getBoundingClientRect().left - tab.getBoundingClientRect().right,
        button,
      );
    };
    // A name that is longer than its tab.
    await type(PAGE.query, "a question about soups and stews for the winter, with lentils and beans");
    for (const tabs of [await count(PAGE.tab), (await count(PAGE.tab)) + 1]) {
      await until(`${tabs} tabs`, async () => (await count(PAGE.tab)) === tabs);
      await until(`the new-tab button beside the last of ${tabs} tabs`, async () => {
        const px = await gap();
        return px >= 0 && px < 12;
      });
      await click(PAGE.newTab);
    }
  },

  async "stream, and reload in mid-stream"() {
    await ask("slow", "soup");
    await until("two results", async () => (await count(PAGE.results)) >= 2);
    assert.equal(await attribute(PAGE.state, "data-state"), "streaming");
    const before = await count(PAGE.results);
    await page.reload();
    await until("the results of before", async () => (await count(PAGE.results)) >= before);
    assert.equal(await attribute(PAGE.state, "data-state"), "streaming");
    await until("another result", async () => (await count(PAGE.results)) > before);
    await click(PAGE.stop);
    await inState("cancelled");
  },

  async "follow-up"() {
    await ask("quick", "breakfast with eggs");
    await inState("completed");
    await started(async () => {
      await type(PAGE.followUp, "without nuts");
      await page.keyboard.press("Enter");
    });
    await inState("completed");
    assert((await count(PAGE.results)) > 0);
  },

  async elicitation() {
    await ask("quick", "something for dinner");
    await inState("completed");
    for (const option of PAGE.options) await click(option);
    await started(() => click(PAGE.answer));
    await inState("completed");
    assert((await count(PAGE.results)) > 0);
  },

  async promise() {
    await ask("quick", "make a weekly meal plan with a shopping list");
    await first(PAGE.fulfilled);
    await first(PAGE.promised);
  },

  async action() {
    await ask("quick", "tiramisu");
    await inState("completed");
    await click(PAGE.action);
    await click(PAGE.run);
    await click(PAGE.confirm);
    await first(PAGE.actionResult);
  },

  async save() {
    await page.keyboard.down("Control");
    await page.keyboard.press("s");
    await page.keyboard.up("Control");
    await first(PAGE.saveDialog);
    await type(PAGE.saveName, "Saved in Firefox");
    await (await first(PAGE.saveWhere)).select("");
    await type(PAGE.saveCollection, "Firefox");
    await click(PAGE.save);
    await gone(PAGE.saveDialog);
    await page.reload();
    await first({ ...PAGE.tab, name: /^Saved in Firefox/ });
  },

  async theme() {
    const look = () =>
      page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).color]);
    const choose = async (theme) => {
      await click(PAGE.theme);
      await click({ ...PAGE.themes, name: theme });
      const [shown, ink] = await look();
      assert.equal(shown, theme.toLowerCase());
      return ink;
    };
    const light = await choose("Light");
    const dark = await choose("Dark");
    assert.notEqual(dark, light);
    await page.reload();
    assert.deepEqual(await look(), ["dark", dark]);
  },
};

try {
  for (const [name, step] of Object.entries(STEPS)) {
    const began = Date.now();
    try {
      await step();
      assert.deepEqual(errors, []);
    } catch (error) {
      console.error(`Failed: ${name}\n${error.stack}`);
      await page.screenshot({ path: join(directory, "failed.png") });
      process.exitCode = 1;
      break;
    }
    console.log(`${name}: ${Date.now() - began} ms`);
  }
} finally {
  await browser.close();
}
