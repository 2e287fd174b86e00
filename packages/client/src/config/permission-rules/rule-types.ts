// What a permission rule of another program says, and about which servers.
import type { ProgramId, TrunklineError } from "@trunkline/core";
import type { ImportPlace } from "../import/imported-server.js";
import type { ServerEntry } from "../written-entry.js";

/**
 * `only`: the program uses nothing else. `off`: it does not start the server. `hook`: it runs a command around a call.
 * `sandbox`: it restricts what the server can do. `allow`: it does not ask.
 */
export type RuleKind = "deny" | "ask" | "only" | "off" | "hook" | "sandbox" | "allow";

/**
 * What happens to the rule if the server is called through Trunkline, where its tools have other names. `stops`: it no
 * longer applies. `carried`: our copy of the entry at `at` has it. `holds`: it covers every tool, so Trunkline's as well.
 */
export type RuleEffect = "stops" | "carried" | "holds";

/** A rule of a program about one server. */
export interface PermissionRule {
  readonly agent: ProgramId;
  readonly file: string;
  /** Where it is in the file: `permissions.deny`. */
  readonly setting: string;
  readonly kind: RuleKind;
  /** The program's name for the server. */
  readonly server: string;
  /** A glob over the server's tools. */
  readonly tool: string;
  /** The rule as it is written. */
  readonly text: string;
  readonly effect: RuleEffect;
  /** Of a carried rule: where the entry is in the file. */
  readonly at?: readonly string[];
}

/** A server as the program has it. */
export interface RuleServer {
  readonly name: string;
  /** Undefined if the program does not have it itself. */
  readonly entry?: ServerEntry | undefined;
}

/** A rule before it is known which servers there are. */
export interface WrittenRule {
  readonly setting: string;
  readonly kind: RuleKind;
  readonly text: string;
  /** Returns what it means for this server; undefined if it is about others. */
  readonly covers: (
    server: RuleServer,
  ) => { readonly tool: string; readonly effect: RuleEffect; readonly at?: readonly string[] } | undefined;
}

/** Where a program keeps rules. */
export interface RuleFile {
  readonly path: string;
  readonly format: "json" | "toml";
  readonly read: (root: Readonly<Record<string, unknown>>) => Iterable<WrittenRule>;
}

/** Where to look for a program's rules. */
export interface RulePlace extends ImportPlace {
  /** The working directory and its parents, and the projects that the program has in its own files. */
  readonly folders: readonly string[];
  /** Where administrators put files: `/etc`. */
  readonly systemFolder: string;
}

/** How to find the rules of a program. */
export interface RuleReader {
  /** Every file that may exist. */
  files(place: RulePlace): readonly RuleFile[];
  /** Folders whose files all have rules, as `files` of `*.toml` or `*.json`. */
  folders?(place: RulePlace): readonly (Omit<RuleFile, "path"> & { readonly folder: string })[];
}

/** All rules of a program. */
export interface ProgramRules {
  readonly agent: ProgramId;
  /** Files that exist and cannot be read: what they forbid is not known. */
  readonly problems: readonly TrunklineError[];
  /** Returns the rules about a server. */
  on(server: RuleServer): readonly PermissionRule[];
}
