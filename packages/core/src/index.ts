/** Shared by all Trunkline packages. Imports nothing but Node itself. */
export {
  BM25_MAX_GAIN,
  bm25Gain,
  bm25LengthFactor,
  bm25Weight,
  bm25WeightOfFts5,
  boundedBm25,
} from "./bm25.js";
export { compareVersions } from "./compare-versions.js";
export { type ContentId, contentIdOf, isContentId, parseContentId, parseContentIdPrefix } from "./content-id.js";
export {
  abortable,
  abortError,
  atMost,
  type Deadline,
  Endable,
  type Ending,
  formatMs,
  signalOf,
  sleep,
  startDeadline,
  withDeadline,
} from "./deadline.js";
export {
  type ErrorCode,
  fileReason,
  isTrunklineError,
  messageOf,
  systemCodeOf,
  TrunklineError,
  toTrunklineError,
} from "./errors.js";
export { headOf, LEFT_OUT } from "./excerpt.js";
export {
  isAbsent,
  isFolder,
  isFolderSync,
  MAX_PROJECT_FILE_BYTES,
  makeFolder,
  placeFileSync,
  readRegularFile,
  realPathOf,
  resolvedPath,
  writeFileAtomically,
} from "./files.js";
export { hasReservedName, isInside, isReservedName, isWithin } from "./guarded-paths.js";
export {
  canonicalJson,
  isRecord,
  isRecordOf,
  isString,
  parseJson,
  parseUniqueJson,
  repeatedKey,
  withoutUndefined,
} from "./json.js";
export {
  checkJson,
  countOf,
  decodedText,
  fieldMap,
  fieldOf,
  fieldsOf,
  hasFewValues,
  itemsOf,
  recordOfText,
  type Span,
  spanKind,
  spanText,
  spanValue,
  wholeSpan,
} from "./json-bytes.js";
export { ByteOutput, compactJson, linedJson } from "./json-bytes-format.js";
export { isProgramId, KNOWN_PROGRAMS, PROGRAM_IDS, type ProgramId } from "./known-programs.js";
export { type LargeResult, LargeValue, type SerializedValue, wholeOf } from "./large-value.js";
export { LineReader } from "./line-reader.js";
export {
  isSecretName,
  maskedSecret,
  REDACTED,
  redactedArgs,
  redactedUrl,
  secretsInArgs,
  secretsInUrl,
  urlForApproval,
  valueForApproval,
} from "./literal-secrets.js";
export { createLogger, LOG_LEVELS, type LoggerOptions, silentLogger } from "./logger.js";
export { inLatin } from "./look-alikes.js";
export { nestingVariable, requireNoChain } from "./nesting.js";
export { npmCommand } from "./npm-command.js";
export {
  aliasesOf,
  type JsonSchema,
  type Narrowing,
  type Parameter,
  type ParameterSet,
  type ParamsOf,
  param,
  schemaOf,
} from "./parameters.js";
export {
  type Clock,
  type ContentStore,
  type Embedder,
  type FileLimits,
  LOCAL_PRINCIPAL,
  type LogFields,
  type Logger,
  type LogLevel,
  type SourcedTool,
  type StoreOperation,
  systemClock,
  type ToolCallOptions,
  type ToolCallResult,
  type ToolProgress,
  type ToolSource,
} from "./ports.js";
export { isRunning, shellQuoted } from "./processes.js";
export { MIN_SECRET_LENGTH, Redactor } from "./redaction.js";
export {
  firstChars,
  firstWords,
  hasControls,
  normalized,
  printable,
  printableJson,
  printableLines,
  replaceControls,
  toOneLine,
} from "./safe-text.js";
export {
  beginsPrivateKey,
  isSensitiveInFolder,
  isSensitiveToRead,
  isSensitiveToWrite,
  TELLING_BYTES,
} from "./sensitive-paths.js";
export { jsonBytes, type Shrunk, shareOut, shrink, shrinkSpan } from "./shrink.js";
export { signatureOf, typeOf } from "./signature.js";
export { byCodeUnit, isGlob, matchesGlob, nearestNames, typingDistance } from "./spelling.js";
export {
  type BatchClaim,
  type BatchKey,
  type EndedTask,
  type Gateway,
  type GatewayAnswer,
  type GatewayRequest,
  isGatewayName,
  randomGatewayName,
  type Team,
} from "./team.js";
export { unifiedDiff } from "./text-diff.js";
export { type PathReading, parsePath, readPath, type Segment } from "./value-paths.js";
