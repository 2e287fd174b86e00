/**
 * `@trunkline/client/internal`: only for Trunkline's other packages. It may change in any release; programs import
 * `@trunkline/client` or `@trunkline/config`.
 */

export {
  dottedName,
  type KeychainPlace,
  keychainTitle,
  mayBelongTo,
  ownersOf,
  type PolicyRules,
  type PolicyVerdict,
  parseSecretReference,
  readKeychain,
  removeFromKeychain,
  resolveSecrets,
  secretEnvironment,
  verdictOn,
  wireName,
  writeKeychain,
} from "@trunkline/config";
export { forgetSignIn, type KeptSignIn, readSignIn } from "./auth/kept-sign-ins.js";
export { authenticateTool, SIGN_IN_TOOL } from "./auth/sign-in-tool.js";
export { isAllowed } from "./catalogue/member-lists.js";
export type { RenamedTool } from "./catalogue/names-table.js";
export type { UrlElicitation } from "./channel/typed-channel.js";
export { withoutAsker } from "./channel/vetted-elicitation.js";
export { linkProblem } from "./channel/web-links.js";
export { withoutForeignPrograms } from "./connection/run-folder.js";
export { classifyChange } from "./pins/classify-change.js";
export { type DiffLine, diffDefinitions } from "./pins/definition-diff.js";
export { Neighbours } from "./pins/neighbours.js";
export { approvePins, type HeldPin, reportPins } from "./pins/pin-report.js";
export type { PinChange } from "./pins/pin-state.js";
export { heldError } from "./pins/server-pins.js";
export { decodeBase64 } from "./results/base64.js";
export { capText } from "./results/cap-text.js";
export { listenToProcessTrees } from "./wire/process-tree.js";
