/** The client: configuration to live connections, one catalogue, clean calls. */
export { forgetSignIn, type KeptSignIn, type KeptSignInOptions, readSignIn } from "./auth/kept-sign-ins.js";
export { SIGN_IN_TIMEOUT_MS, type SignIn, type SignInRequest } from "./auth/sign-in.js";
export type { SignInReport } from "./auth/sign-in-report.js";
export {
  type Abilities,
  type CallProgress,
  type Channel,
  canAnswer,
  currentChannel,
  type Question,
  type QuestionContext,
  type Root,
  type ServerLog,
} from "./channel/channel.js";
export { validateField, validateForm } from "./channel/forms/form-check.js";
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  FieldCommon,
  FieldOption,
  FieldValue,
  FormField,
  NumberField,
  OtherField,
  TextField,
  TextFormat,
} from "./channel/forms/form-fields.js";
export { readFormFields } from "./channel/forms/form-schema.js";
export { describeField, type ParsedText, parseText } from "./channel/forms/form-text.js";
export {
  type ChannelAnswers,
  createChannel,
  type Elicitation,
  type ElicitationAnswer,
  type FormElicitation,
  type UrlElicitation,
} from "./channel/forms/typed-channel.js";
export type { AskPolicy } from "./channel/in-flight.js";
export {
  createQueueChannel,
  type QueueChannel,
  type QueueChannelOptions,
  type QueuedForm,
  type QueuedQuestion,
  type QueuedQuestionCommon,
  type QueuedSample,
  type QueuedUrl,
} from "./channel/queue-channel.js";
export { parseEnvFile } from "./config/dot-env.js";
export { expandEnv } from "./config/expand.js";
export type { InputPrompt, InputRequest } from "./config/inputs.js";
export { type LoadConfigOptions, loadConfig } from "./config/load.js";
export type {
  AuthSettings,
  ConfigFile,
  ConfigScope,
  Diagnostic,
  Dialect,
  HttpServer,
  LoadedConfig,
  RejectedServer,
  ServerCommon,
  ServerDefinition,
  StdioServer,
  ToolFilter,
} from "./config/loaded-config.js";
export { type PolicyRules, type PolicyVerdict, verdictOn } from "./config/policy.js";
export type { ConfigSettings } from "./config/settings.js";
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from "./config/watch.js";
export type { ConnectCause } from "./connection/connection-errors.js";
export type { ClientInfo, ListKind, ServerState } from "./connection/connection-options.js";
export { INHERITED_NAMES } from "./connection/server-environment.js";
export type { TaskWish } from "./connection/task-calls.js";
export type { PromptArgument, SourcedPrompt, SourcedResource, SourcedTemplate } from "./hub/catalogue-items.js";
export { Hub, openHub } from "./hub/hub.js";
export type { CatalogueListener, NotificationListener } from "./hub/hub-events.js";
export type { CallResult, HubCallOptions, HubOptions, HubWarning } from "./hub/hub-options.js";
export type {
  CompleteOptions,
  Completion,
  CompletionReference,
  ListOptions,
  PromptResult,
  ReadResourceResult,
} from "./hub/hub-requests.js";
export type { ServerStatus } from "./hub/hub-status.js";
export type { ResourceListener, ResourceUpdate } from "./hub/resource-subscriptions.js";
export { type AgentTool, type ResourceToolsOptions, resourceTools } from "./hub/resource-tools.js";
export {
  buildToolName,
  dottedName,
  hyphenatedName,
  isGlob,
  MAX_NAME_LENGTH,
  matchesGlob,
  mayBelongTo,
  NAME_STYLES,
  type NameStyle,
  nearestNames,
  normalizeName,
  parseToolName,
  prefixedName,
  type ToolKey,
  toolNamePrefix,
  uriName,
  wireName,
} from "./names/name-styles.js";
export { type RenamedTool, type ResolveOptions, resolveToolName, ToolNames } from "./names/names-table.js";
export { capText } from "./results/cap-text.js";
export {
  type RenderBlocksOptions,
  type RenderedResult,
  type ResultBlock,
  renderBlocks,
  renderText,
} from "./results/render-result.js";
