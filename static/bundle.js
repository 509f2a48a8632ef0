// Bundles styles, page modules and the code editor into static/build/. The page also works
// without: it then loads the sources themselves, and a textarea for JSON.

import { readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const options = {
  entryPoints: [
    "site/app.js",
    "site/app.css",
    "composer/list-entries.js",
    "reference/explanation-popover.js",
    "reference/explanations.css",
    "conversation/pictures.js",
    "wire/annotations.js",
    "wire/timeline.css",
    "reference/rules.css",
    "wire/session.css",
    // What only one page needs.
    "agents/form.js",
    "compare/twin.css",
    "history/page.css",
    "history/retention.css",
    "history/page.js",
    "compare/page.css",
    "verdicts/expectations.js",
    "verdicts/expectations.css",
    "agents/doctor.css",
    "collections/import.css",
    "collections/page.css",
    "collections/page.js",
    "shares/page.css",
    "wire/sequence.css",
    "wire/annotations.css",
    "lessons/lessons.css",
    "lessons/pane.js",
    "lessons/editor.js",
    "environments/page.css",
    "environments/table.js",
    "reference/page.css",
    "reference/page.js",
    "collection_runs/page.css",
  ].map(path),
  // Each keeps its folder and name.
  outbase: path("."),
  outdir: path("build"),
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome123", "firefox128", "safari17.5"],
  // A path in an error message should not depend on where the repository lies.
  absWorkingDir: path(".."),
  logLevel: "info",
};

/** The editor comes in parts: what not everybody needs is loaded on demand. */
const editor = {
  ...options,
  entryPoints: [path("composer/editor/editor.js")],
  splitting: true,
  chunkNames: "composer/editor/chunk-[name]-[hash]",
};

// Their names change with what is in them: those of an earlier build would only pile up.
const parts = `${options.outdir}/composer/editor`;
for (const name of await readdir(parts).catch(() => []))
  if (name.startsWith("chunk-")) await rm(`${parts}/${name}`, { force: true });

const watched = process.argv.includes("--watch");
for (const each of [options, editor]) {
  if (watched) await (await esbuild.context(each)).watch();
  else await esbuild.build(each);
}
