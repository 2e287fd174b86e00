// Types shared by the readers of other programs' files.
import type { ProgramId } from "@trunkline/core";
import type { ServerEntry } from "../entry-fields.js";
import type { InputDefinition } from "../written-entry.js";

/** Where to look for a program's files. */
export interface ImportPlace {
  /** The user's home folder according to the operating system. */
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a reader can use besides the file's text. */
export interface ImportContext extends ImportPlace {
  /** The file being read. */
  readonly path: string;
  /** The working directory and its parents, up to the git root. */
  readonly folders: readonly string[];
}

/** A server from another program, translated to our syntax. */
export interface ImportedServer {
  readonly name: string;
  /** Where the entry is in the file: `["mcpServers", "docs"]`. */
  readonly at: readonly string[];
  /** In the `mcpServers` dialect, with `${input:id}` for values that must be asked for. */
  readonly entry: ServerEntry;
  /** Definitions of the inputs the entry uses. */
  readonly inputs: readonly InputDefinition[];
  /** Anything that was not imported, or that has a slightly different meaning here. */
  readonly notes: readonly string[];
}

/** The servers in a program's file. */
export interface ParsedServers {
  readonly servers: readonly ImportedServer[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Servers that the program uses only in other folders: they can be imported there. */
  readonly elsewhere?: readonly { readonly name: string; readonly folder: string }[];
}

/** A program whose servers can be imported. */
export interface ImportSource extends ProgramReader {
  /** Its name on the command line. */
  readonly id: ProgramId;
  /** Its product name. */
  readonly title: string;
}

/** Where a program keeps its servers, and how they are read. */
export interface ProgramReader {
  /** The user's files, as absolute paths. */
  userFiles(place: ImportPlace): readonly string[];
  /** The project's files, relative to the project folder. */
  readonly projectFiles: readonly string[];
  /** Parses a file. Throws `CONFIG_INVALID` if the whole file is unreadable; a bad entry is only skipped. */
  parse(text: string, context: ImportContext): ParsedServers;
}
