/**
 * The console's API as types, for the page, the server and programs that use it: `@trunkline/console/contract`. Loads
 * nothing.
 */
export type { AnswerOf, ApiError, ClientRow, ConsoleEvent, Overview, ParamsOf, RequestName, Topic } from "./api.js";
export type { QuestionAnswer, QuestionRow } from "./questions-api.js";
export type { AddedServer, DefinitionRow, ImportRow, NewServer, ServerAction, ServerRow } from "./servers-api.js";
export type { SettingsReport } from "./settings-api.js";
export type { Json, OperationAnswer, ToolAnswer, ToolDefinition, ToolList, ToolRow } from "./tools-api.js";
export type { CallDetails, CallRow, DayRow } from "./traffic-api.js";
