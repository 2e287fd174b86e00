import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Builds the page into assets/: flat, with hashed names, one file for each part that is loaded on its own. */
export default defineConfig({
  root: fileURLToPath(new URL("./page/", import.meta.url)),
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("./assets/", import.meta.url)),
    emptyOutDir: true,
    assetsDir: "",
    // As files: the content security policy allows no inline script, and styles only from here.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
  },
});
