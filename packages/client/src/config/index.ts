/**
 * Reads and manages configuration without connecting. A program that only lists, edits or imports servers loads no
 * protocol code through this entry point, `@trunkline/client/config`.
 */

export { normalizeName } from "../names/name-styles.js";
export { isSecretNameValid } from "../secrets/secret-reference.js";
export { foldersUpward, readDotEnv } from "./config-files.js";
export type { DotEnv } from "./dot-env.js";
export {
  addToSettings,
  type ConfigEdit,
  dialectNotes,
  type EditableConfig,
  type EditOutcome,
  editConfigFile,
  editedConfig,
  readEditableConfig,
} from "./edit.js";
export { ENTRY_FIELDS, type EntryField, type ServerEntry } from "./entry-fields.js";
export { shownVariable } from "./fingerprint.js";
export {
  type FoundImport,
  findImports,
  IMPORT_SOURCES,
  importSource,
  readImport,
} from "./import/find-imports.js";
export type {
  ImportedServer,
  ImportPlace,
} from "./import/imported-server.js";
export { forgetInputs, type InputRequest } from "./inputs.js";
export { jsonFault } from "./json-fault.js";
export { literalText } from "./literal-text.js";
export { type LoadConfigOptions, loadConfig } from "./load.js";
export {
  type ConfigFile,
  type ConfigScope,
  entryRedactor,
  type LoadedConfig,
  type ServerDefinition,
} from "./loaded-config.js";
export { countComments, maskedText } from "./masked-text.js";
export { ConfigMemory } from "./memory.js";
export { findPermissionRules } from "./permission-rules/find-permission-rules.js";
export type { PermissionRule, ProgramRules, RuleEffect, RuleKind } from "./permission-rules/rule-types.js";
export { verdictOn } from "./policy.js";
export {
  type EntryPlace,
  entryIn,
  entryText,
  type ProgramFile,
  readProgramFile,
  withEntry,
  withoutEntry,
} from "./program-file.js";
export { isRegistryName, type RegistryOrigin } from "./registry-origin.js";
export { adviceOnRelativeWords } from "./relative-words.js";
export { type PathSettings, SETTING_FIELDS, type SettingField } from "./setting-fields.js";
export { keepsState, programName } from "./sharing.js";
export type { ClientSurface, SurfaceSettings } from "./surface-settings.js";
export { approvalsIn, TrustStore, type TrustSubject } from "./trusted-files.js";
export { readUserSettings } from "./user-settings.js";
export { type ConfigWatch, watchConfig } from "./watch.js";
export { foreignFolders } from "./workspace-reach.js";
export { secretsInEntry, toDialect } from "./written-entry.js";
