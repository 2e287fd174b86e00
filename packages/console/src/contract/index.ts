/**
 * The console's API as types, for the page, the server and programs that use it: `@trunkline/console/contract`. Loads
 * nothing.
 */
export type {
  AnswerOf,
  ApiError,
  ClientRow,
  ConsoleApi,
  ConsoleEvent,
  InWorkspace,
  Overview,
  ParamsOf,
  RequestName,
  Topic,
  WorkspaceRow,
} from "./api.js";
export type { QuestionAnswer, QuestionRow } from "./questions-api.js";
export type {
  AddedServer,
  DefinitionRow,
  DiffLine,
  ImportRow,
  NewServer,
  ServerAction,
  ServerRow,
} from "./servers-api.js";
export type { SettingsFile, SettingsReport } from "./settings-api.js";
export type { Json, OperationAnswer, ToolAnswer, ToolDefinition, ToolList, ToolRow } from "./tools-api.js";
export type { CallDetails, CallRow, DayRow } from "./traffic-api.js";
