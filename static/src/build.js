// Bundles styles, page modules and the code editor into static/build/. The page also works
// without: it then loads the sources themselves, and a textarea for JSON.

import { readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const options = {
  entryPoints: {
    app: path("../js/app.js"),
    styles: path("../css/app.css"),
    lists: path("../js/lists.js"),
    "explanation-popover": path("../js/explanation-popover.js"),
    explanations: path("../css/explanations.css"),
    pictures: path("../js/pictures.js"),
    "annotated-block": path("../js/live/annotated-block.js"),
    timeline: path("../css/timeline.css"),
    rules: path("../css/rules.css"),
    session: path("../css/session.css"),
    // What only one page needs.
    "agent-form": path("../js/agent-form.js"),
    twins: path("../css/twins.css"),
    history: path("../css/history.css"),
    retention: path("../css/retention.css"),
    "history-page": path("../js/history-page.js"),
    compare: path("../css/compare.css"),
    expectations: path("../js/expectations.js"),
    "expectations-panel": path("../css/expectations.css"),
    doctor: path("../css/doctor.css"),
    import: path("../css/import.css"),
    collections: path("../css/collections.css"),
    "collections-page": path("../js/collections/page.js"),
    shares: path("../css/shares.css"),
    sequence: path("../css/sequence.css"),
    annotations: path("../css/annotations.css"),
    lessons: path("../css/lessons.css"),
    "lesson-pane": path("../js/lesson-pane.js"),
    "lesson-editor": path("../js/lesson-editor.js"),
    environments: path("../css/environments.css"),
    "environment-table": path("../js/environment-table.js"),
    reference: path("../css/reference.css"),
    "reference-page": path("../js/reference-page.js"),
    "collection-runs": path("../css/collection-runs.css"),
  },
  outdir: path("../build"),
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome123", "firefox128", "safari17.5"],
  // A path in an error message should not depend on where the repository lies.
  absWorkingDir: path("../.."),
  logLevel: "info",
};

/** The editor comes in parts: what not everybody needs is loaded on demand. */
const editor = {
  ...options,
  entryPoints: { editor: path("editor.js") },
  splitting: true,
  chunkNames: "editor-[name]-[hash]",
};

// Their names change with what is in them: those of an earlier build would only pile up.
for (const name of await readdir(options.outdir).catch(() => []))
  if (name.startsWith("editor-")) await rm(`${options.outdir}/${name}`, { force: true });

const watched = process.argv.includes("--watch");
for (const each of [options, editor]) {
  if (watched) await (await esbuild.context(each)).watch();
  else await esbuild.build(each);
}
