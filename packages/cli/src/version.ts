import { readFileSync } from "node:fs";

/** The version of the package, read from its manifest so that it is written in one place. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
}
