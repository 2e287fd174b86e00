// What the readers of other programs' files have in common.
import type { InputDefinition, ServerEntry } from "../written-entry.js";

/** Where a program's files are looked for. */
export interface ImportPlace {
  /** The user's own folder, as the operating system has it. */
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a reader may know besides the text of the file. */
export interface ImportContext extends ImportPlace {
  /** The file that is being read. */
  readonly path: string;
  /** The working directory and the folders above it, up to the root of the git repository. */
  readonly folders: readonly string[];
}

/** One server of another program, in our words. */
export interface ImportedServer {
  readonly name: string;
  /** In the `mcpServers` dialect, and `${input:id}` for what has to be asked for. */
  readonly entry: ServerEntry;
  /** The definitions of the inputs that the entry uses. */
  readonly inputs: readonly InputDefinition[];
  /** What could not be carried over, or means something slightly different here. */
  readonly notes: readonly string[];
}

/** What a program's file says about servers. */
export interface ParsedServers {
  readonly servers: readonly ImportedServer[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/** A program whose servers can be imported. */
export interface ImportSource {
  /** What the command line calls it. */
  readonly id: string;
  /** What its makers call it. */
  readonly title: string;
  /** The files it keeps for the user, absolute. */
  userFiles(place: ImportPlace): readonly string[];
  /** The files it keeps in a project, relative to the project's folder. */
  readonly projectFiles: readonly string[];
  /** Reads a file's text. Throws `CONFIG_INVALID` where it cannot be read at all; a bad entry is only skipped. */
  parse(text: string, context: ImportContext): ParsedServers;
}
