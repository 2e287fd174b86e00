/**
 * The broker: one process per user that owns the MCP servers and keeps the store warm.
 *
 * @packageDocumentation
 */
export { killSilentBrokers, requestControl } from "./relay/control.js";
export { RefusedError } from "./relay/reach-broker.js";
export {
  type AdmittedClient,
  type BrokerHost,
  BrokerServer,
  type ConnectedClient,
} from "./server/broker-server.js";
export type { ClientLink } from "./server/client-link.js";
export type { PersonLink } from "./server/person-connection.js";
export { trimLog } from "./wire/broker-log.js";
export { type BrokerPlace, BrokerSilentError, BrokerUnavailableError, brokerPlace } from "./wire/broker-place.js";
export type { ClientHello, PersonHello } from "./wire/hello.js";
export { endLeftGroups, ProcessGroups } from "./wire/process-groups.js";
