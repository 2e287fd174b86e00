// The service: what every endpoint serves, put together from surface, prompts and resources.
import type { Logger } from "@trunkline/core";
import type { Backends } from "./backends.js";
import type { Journal, TokenAccount } from "./journal/journal.js";
import type { ServerInfo } from "./protocol/service.js";

/** Which tools clients see. */
export type SurfaceKind = "composite" | "direct" | "both";

/** What rules whether an operation may run. */
export type PolicyVerdict = "allow" | "ask" | "deny";

/** How a service is set up. */
export interface ServiceOptions {
  readonly info: ServerInfo;
  readonly backends: Backends;
  readonly logger: Logger;
  /** Default `composite`. */
  readonly surface?: SurfaceKind | undefined;
  /** How the direct surface names tools. Default `prefixed`. */
  readonly names?: "prefixed" | "plain" | undefined;
  /** Rules by glob, one set per configuration file: the most specific of a set counts, the strictest of all sets wins. */
  readonly policies?: readonly Readonly<Record<string, PolicyVerdict>>[] | undefined;
  /** The folder that relative paths are relative to, and that clients over HTTP may read. */
  readonly workspace: string;
  /** Further folders that clients over HTTP may read and write. */
  readonly allowPaths?: readonly string[] | undefined;
  /** Folders that `get` may write to with `outputPath`. */
  readonly allowWrite?: readonly string[] | undefined;
  readonly allowPrivateAddresses?: boolean | undefined;
  /** Whether answers over the budget are stored and given as a handle. Default true. */
  readonly spill?: boolean | undefined;
  /** Where `PROMPT-*.md` files are, the first folder winning. */
  readonly promptFolders?: readonly string[] | undefined;
  /** Where what upstream servers last listed is kept between runs. */
  readonly cacheFolder?: string | undefined;
  readonly journal?: Journal | undefined;
  readonly account?: TokenAccount | undefined;
}
