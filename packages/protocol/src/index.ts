// MCP constants, types and parsing, shared by client and server. This package imports nothing.
export {
  buildParamHeaders,
  decodeHeaderText,
  encodeHeaderText,
  findHeaderMismatch,
  HEADERS,
  readParamHeaders,
} from "./headers.js";
export { encodeBatch, encodeMessage, JsonBytes } from "./json-bytes-field.js";
export { DEFAULT_LOG_LEVEL, isLogged, isLogLevel, LOG_MESSAGE_LEVELS, type LogMessageLevel } from "./log-levels.js";
export {
  errorMessage,
  errorObject,
  type IncomingMessage,
  isRpcId,
  notificationMessage,
  type OutgoingMessage,
  type RpcId,
  type RpcNotification,
  type RpcParams,
  type RpcRequest,
  type RpcResponse,
  readMessage,
  resultMessage,
} from "./messages.js";
export { clientName, foreignMeta, META, metaOf, progressTokenOf, withoutOwnMeta } from "./meta.js";
export { isQuestionMethod, LIST_CHANGES, QUESTION_CAPABILITIES } from "./methods.js";
export {
  answeredId,
  DEFAULT_MAX_MESSAGE_BYTES,
  ID_WINDOW_BYTES,
  isDeeperThan,
  MAX_MESSAGE_DEPTH,
  REFUSED_CODES,
  refusedAnswer,
  unreadAnswer,
} from "./oversized.js";
export {
  BATCH_REVISION,
  definesMethod,
  type Era,
  isAtLeast,
  isModernRevision,
  isSupportedRevision,
  LATEST_LEGACY_REVISION,
  LATEST_PROTOCOL_VERSION,
  LEGACY_REVISIONS,
  type MethodDirection,
  MODERN_REVISION,
  MODERN_REVISIONS,
  negotiateLegacy,
  REVISION_FACTS,
  revisionsDefining,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "./revisions.js";
export { methodNotFound, RPC_CODES, RpcError } from "./rpc-errors.js";
export { isTerminalTaskStatus, TASKS_EXTENSION, type TaskStatus } from "./task-status.js";
