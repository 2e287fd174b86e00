import type { FoundImport } from "@trunkline/config";
import { startsTrunkline } from "./launch-command.js";

/** Skips the entry that `install` wrote: otherwise Trunkline would keep starting itself. */
export function withoutTrunkline(found: FoundImport): FoundImport {
  const ours = found.servers.filter(({ entry }) => startsTrunkline(entry));
  return {
    ...found,
    servers: found.servers.filter((server) => !ours.includes(server)),
    skipped: [...found.skipped, ...ours.map(({ name }) => ({ name, reason: "it is Trunkline itself" }))],
  };
}
