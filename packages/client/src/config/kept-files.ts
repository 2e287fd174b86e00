// Schemas of files saved in the user's home. They are separate from their readers because most runs find no such file,
// and the schema library takes longer to load than everything else here.
import { z } from "zod";

/** `inputs.json`: answers by file and id. */
export const keptInputs = z.object({
  version: z.literal(1),
  inputs: z.record(z.string(), z.record(z.string(), z.string())),
});

const trustedFiles = z.record(z.string(), z.object({ fingerprint: z.string(), confirmedAt: z.string() }));

/** `trust.json`: approved files and workspaces, by path. Version 1 had fingerprints that covered less. */
export const keptTrust = z.discriminatedUnion("version", [
  z.object({ version: z.literal(1), files: trustedFiles }),
  z.object({
    version: z.literal(2),
    files: trustedFiles,
    workspaces: z.record(z.string(), z.object({ confirmedAt: z.string(), endpoint: z.string().optional() })),
    former: z.array(z.string()),
  }),
]);
