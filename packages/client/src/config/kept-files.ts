// What the files that are kept in the user's home look like. Apart from those who read them: most runs find no such file,
// and the library behind the schemas takes longer to load than everything else here.
import { z } from "zod";

/** `inputs.json`: answers by file and id. */
export const keptInputs = z.object({
  version: z.literal(1),
  inputs: z.record(z.string(), z.record(z.string(), z.string())),
});

/** `trust.json`: the files that were confirmed, by path. */
export const keptTrust = z.object({
  version: z.literal(1),
  files: z.record(z.string(), z.object({ fingerprint: z.string(), confirmedAt: z.string() })),
});
