// Schemas of files saved in the user's home. They are separate from their readers because most runs find no such file,
// and the schema library takes longer to load than everything else here.
import { z } from "zod";

/** `inputs.json`: answers by file and id. */
export const keptInputs = z.object({
  version: z.literal(1),
  inputs: z.record(z.string(), z.record(z.string(), z.string())),
});

/** `trust.json`: approved files, by path. */
export const keptTrust = z.object({
  version: z.literal(1),
  files: z.record(z.string(), z.object({ fingerprint: z.string(), confirmedAt: z.string() })),
});
