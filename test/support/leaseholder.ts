// A hub as a connection sees it, for tests of what is below the hub.
import { silentLogger } from "@trunkline/core";
import type { Leaseholder } from "../../packages/client/src/channel/leaseholder.js";

export function leaseholder(more: Partial<Leaseholder> = {}): Leaseholder {
  return {
    channel: undefined,
    noChannel: {},
    waitMs: 10,
    maxQuestions: 9,
    roots: () => undefined,
    logLevel: undefined,
    ownLogLevel: undefined,
    logger: silentLogger,
    signIn: undefined,
    redact: (text) => text,
    onNotification: () => {},
    ...more,
  };
}
