/**
 * Configuration on its own, without connections: reading it, and what manages it. A program that only lists, edits or
 * imports servers loads no protocol code through this entry, `@trunkline/client/config`.
 */

export { nearestNames, normalizeName } from "../names/name-styles.js";
export { foldersUpward, readDotEnv } from "./config-files.js";
export type { DotEnv } from "./dot-env.js";
export {
  type ConfigEdit,
  dialectNotes,
  type EditableConfig,
  type EditOptions,
  type EditOutcome,
  editConfigFile,
  readEditableConfig,
} from "./edit.js";
export {
  type FindImportsOptions,
  type FoundImport,
  findImports,
  IMPORT_SOURCES,
  importSource,
  readImport,
} from "./import/find-imports.js";
export type {
  ImportContext,
  ImportedServer,
  ImportPlace,
  ImportSource,
  ParsedServers,
} from "./import/imported-server.js";
export { forgetInputs, type InputRequest } from "./inputs.js";
export { type LoadConfigOptions, loadConfig } from "./load.js";
export type { ConfigFile, ConfigScope, Diagnostic, LoadedConfig, ServerDefinition } from "./loaded-config.js";
export { ConfigMemory } from "./memory.js";
export { verdictOn } from "./policy.js";
export {
  type EntryPlace,
  entryText,
  type ProgramFile,
  readProgramFile,
  withEntry,
  withoutEntry,
} from "./program-file.js";
export { type TrustedFile, TrustStore, type TrustSubject } from "./trusted-files.js";
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from "./watch.js";
export { type InputDefinition, inputsOf, type ServerEntry, toDialect } from "./written-entry.js";
