// What bin/trunkline.cjs does, with the build instead of the bundle, whose functions have lost their files.
import { fileURLToPath } from "node:url";
import { root } from "../checkout-copy.js";

const build = (/** @type {string} */ name) => new URL(`packages/cli/dist/${name}`, `file://${root}`);
const { relayToBroker } = await import(build("relay-main.js").href);
const parts = { version: "walk", entry: fileURLToPath(import.meta.url), code: fileURLToPath(build("main.js")) };
if (!(await relayToBroker(process.argv.slice(2), parts))) await import(build("main.js").href);
