// How a service is set up.
import type { PolicyRules } from "@trunkline/client";
import type { Logger } from "@trunkline/core";
import type { Backends } from "./interfaces/backends.js";
import type { Journal, TokenAccount } from "./journal/journal.js";
import type { AccessOptions } from "./operations/store-calls.js";
import type { ServerInfo } from "./protocol/service.js";

/** Which tools clients see. */
export type SurfaceKind = "composite" | "direct" | "both";

/** Sets of rules by glob. A function is asked before each operation: the configuration may be read late, and change. */
export type Policies = readonly PolicyRules[] | (() => Promise<readonly PolicyRules[]>);

/** How a service is set up. */
export interface ServiceOptions extends AccessOptions {
  readonly info: ServerInfo;
  readonly backends: Backends;
  readonly logger: Logger;
  /** Default `composite`. */
  readonly surface?: SurfaceKind | undefined;
  /** How the direct surface names tools. Default `prefixed`. */
  readonly names?: "prefixed" | "plain" | undefined;
  /** Rules by glob, one set per configuration file: the most specific of a set counts, the strictest of all sets wins. */
  readonly policies?: Policies | undefined;
  /** What to say beside a refusal by these rules; undefined leaves it at the usual. */
  readonly denialHint?: (() => Promise<string | undefined>) | undefined;
  /** Whether answers over the budget are stored and given as a handle. Default true. */
  readonly spill?: boolean | undefined;
  /** Where `PROMPT-*.md` files are, the first folder winning. */
  readonly promptFolders?: readonly string[] | undefined;
  /** Where what upstream servers last listed is kept between runs. */
  readonly cacheFolder?: string | undefined;
  readonly journal?: Journal | undefined;
  readonly account?: TokenAccount | undefined;
}
