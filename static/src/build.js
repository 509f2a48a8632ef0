// Bundles styles, page modules and the code editor into static/build/. The page also works
// without: it then loads the sources themselves, and a textarea for JSON.

import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const options = {
  entryPoints: {
    app: path("../js/app.js"),
    styles: path("../css/app.css"),
    editor: path("editor.js"),
    lists: path("../js/lists.js"),
    links: path("../js/links.js"),
    // What only one page needs.
    twins: path("../css/twins.css"),
    history: path("../css/history.css"),
    "history-page": path("../js/history-page.js"),
    compare: path("../css/compare.css"),
    expectations: path("../js/expectations.js"),
    "expectations-panel": path("../css/expectations.css"),
    doctor: path("../css/doctor.css"),
    library: path("../css/library.css"),
    collections: path("../css/collections.css"),
    "collections-page": path("../js/collections/page.js"),
    shares: path("../css/shares.css"),
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

if (process.argv.includes("--watch")) {
  const context = await esbuild.context(options);
  await context.watch();
} else {
  await esbuild.build(options);
}
