// What bin/trunkline loads before anything else: small, and without other packages.
export { type BrokerPlace, BrokerUnavailableError, brokerPlace, executionPlace } from "../wire/broker-place.js";
export { encodeFrame, encodeJsonFrame, FRAME, PROTOCOL_VERSION } from "../wire/frames.js";
export type { Hello, TerminalFacts } from "../wire/hello.js";
export { endLeftGroups, recordedBrokers } from "../wire/process-groups.js";
export { runtimeVariables } from "../wire/runtime-variables.js";
export { ClientRelay } from "./client-relay.js";
export { type BrokerLauncher, BrokerLink, connectBroker, greet, RefusedError, reachBroker } from "./reach-broker.js";
