#!/usr/bin/env node
// Committed, so that it is executable and linked before the first build.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  console.error("trunkline is not built yet. Run: npm run build");
  process.exitCode = 1;
}
