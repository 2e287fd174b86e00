// What a permission rule of another program says, and about which servers.
import type { ProgramId, TrunklineError } from "@trunkline/core";
import type { ServerEntry } from "../entry-fields.js";
import type { ImportPlace } from "../import/imported-server.js";

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
  readonly entry?: ServerEntry;
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
  /** Of `markdown`, the front matter is read. */
  readonly format: "json" | "toml" | "markdown";
  readonly read: (root: Readonly<Record<string, unknown>>) => Iterable<WrittenRule>;
  /** The content of a variable, whose name is the path. */
  readonly text?: string;
  /** Whether front matter that is not valid YAML could be about the server. Programs read such files in their own ways. */
  readonly mentions?: (frontMatter: string, server: string) => boolean;
  /** Other places that the file names. */
  readonly more?: (root: Readonly<Record<string, unknown>>, path: string) => RulePlaces;
}

/** A folder of files with rules. */
export interface RuleFolder extends Omit<RuleFile, "path" | "text"> {
  readonly folder: string;
  /** How the files' names end. Default: as those of the format do. */
  readonly ending?: string;
  /** Whether files in its subfolders count. */
  readonly isDeep?: boolean;
  /** The file is below each of its entries: `gemini-extension.json`. */
  readonly below?: string;
}

export interface RulePlaces {
  readonly files?: readonly RuleFile[];
  readonly folders?: readonly RuleFolder[];
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
  folders?(place: RulePlace): readonly RuleFolder[];
}

/** All rules of a program. */
export interface ProgramRules {
  readonly agent: ProgramId;
  /** Files that exist and cannot be read: what they forbid is not known. */
  readonly problems: readonly TrunklineError[];
  /** Returns the rules about a server. */
  on(server: RuleServer): readonly PermissionRule[];
}
