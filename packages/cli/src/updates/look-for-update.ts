// Asks npm's registry which version is the newest. Runs in its own process, so that no command waits for it.
import { isRecord, parseJson } from "@trunkline/core";
import { isPlainVersion, readKnownUpdate, writeKnownUpdate } from "./known-update.js";

const TAGS_ADDRESS = "https://registry.npmjs.org/-/package/trunkline/dist-tags";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

interface LookOptions {
  /** Trunkline's home. */
  readonly home: string;
  readonly address?: string;
}

/** Keeps the newest version. An answer that is not what it should be is ignored. */
export async function lookForUpdate({ home, address = TAGS_ADDRESS }: LookOptions): Promise<void> {
  const latest = await latestVersion(address).catch(() => undefined);
  if (latest !== undefined) await writeKnownUpdate(home, { ...(await readKnownUpdate(home)), latest });
}

async function latestVersion(address: string): Promise<string | undefined> {
  const headers = { accept: "application/json" };
  const response = await fetch(address, { headers, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) return undefined;
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_BYTES) return undefined;
  }
  const tags = parseJson(text);
  return isRecord(tags) && isPlainVersion(tags.latest) ? tags.latest : undefined;
}
