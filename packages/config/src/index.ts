/**
 * Reads and manages configuration without connecting: files in any dialect, variables and secrets, approvals, other
 * programs' server lists, and the names of tools.
 */

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
export {
  connectionSettings,
  ENTRY_FIELDS,
  type EntryField,
  type ServerEntry,
  type ToolFilter,
} from "./entry-fields.js";
export { expandEnv } from "./expand.js";
export { shownVariable } from "./fingerprint.js";
export { type FoundImport, findImports, IMPORT_SOURCES, importSource, readImport } from "./import/find-imports.js";
export type { ImportedServer, ImportPlace } from "./import/imported-server.js";
export { inProcessServer } from "./in-process-server.js";
export { forgetInputs, type InputPrompt, type InputRequest } from "./inputs.js";
export { jsonFault } from "./json-fault.js";
export { literalText } from "./literal-text.js";
export { type LoadConfigOptions, loadConfig } from "./load.js";
export {
  type AuthSettings,
  type ConfigFile,
  type ConfigScope,
  callTimeoutOf,
  connectTimeoutOf,
  type Diagnostic,
  entryRedactor,
  type HttpServer,
  type InProcessClient,
  type InProcessMessage,
  type InProcessPeer,
  type InProcessServer,
  isRemote,
  type LoadedConfig,
  type ServerDefinition,
  type StdioServer,
} from "./loaded-config.js";
export { countComments, maskedText } from "./masked-text.js";
export { ConfigMemory } from "./memory.js";
export {
  bareName,
  buildToolName,
  dottedName,
  hashedName,
  mayBelongTo,
  NAME_STYLES,
  type NameStyle,
  needsHash,
  normalizeName,
  ownersOf,
  pairId,
  parseToolName,
  plainName,
  type ToolKey,
  toolNamePrefix,
  wireName,
  withoutGatewayPrefix,
} from "./names/name-styles.js";
export { findPermissionRules } from "./permission-rules/find-permission-rules.js";
export type { PermissionRule, ProgramRules, RuleEffect, RuleKind } from "./permission-rules/rule-types.js";
export { type PolicyRules, type PolicyVerdict, verdictOn } from "./policy.js";
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
export {
  type KeychainPlace,
  keychainTitle,
  readKeychain,
  removeFromKeychain,
  writeKeychain,
} from "./secrets/keychain.js";
export { resolveSecrets, secretEnvironment } from "./secrets/resolve-secrets.js";
export { isSecretNameValid, parseSecretReference } from "./secrets/secret-reference.js";
export { type PathSettings, SETTING_FIELDS, type SettingField } from "./setting-fields.js";
export { keepsState, programName, type Share, shareOf } from "./sharing.js";
export type { ClientSurface, SurfaceSettings } from "./surface-settings.js";
export { approvalsIn, TrustStore, type TrustSubject } from "./trusted-files.js";
export { readUserSettings } from "./user-settings.js";
export { type ConfigWatch, watchConfig } from "./watch.js";
export { foreignFolders } from "./workspace-reach.js";
export { secretsInEntry, toDialect } from "./written-entry.js";
