import { describe, expect, it } from "vitest";
import { REVISIONS } from "../src/revisions.generated.js";
import {
  definesInputRequest,
  definesMethod,
  isSupportedRevision,
  LATEST_PROTOCOL_VERSION,
  LEGACY_REVISIONS,
  type MethodDirection,
  MODERN_REVISIONS,
  negotiateLegacy,
  type ProtocolVersion,
  REVISION_FACTS,
  revisionsDefining,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "../src/revisions.js";

const ALL = [...SUPPORTED_PROTOCOL_VERSIONS];
const LEGACY = ALL.slice(0, 4);
const TO_SERVER = "client-to-server";
const TO_CLIENT = "server-to-client";

describe("the supported revisions", () => {
  it("are the five in the table, oldest first, ending with the latest", () => {
    expect(ALL).toEqual(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    expect(Object.keys(REVISIONS)).toEqual(ALL);
    expect(LATEST_PROTOCOL_VERSION).toBe(ALL.at(-1));
    expect(ALL.every(isSupportedRevision)).toBe(true);
  });

  it.each(["2024-10-07", "2099-01-01", "", "draft", "__proto__", "toString"])("do not include %j", (revision) => {
    expect(isSupportedRevision(revision)).toBe(false);
    expect(definesMethod(revision, "tools/call", TO_SERVER)).toBe(false);
    expect(definesInputRequest(revision, "roots/list")).toBe(false);
  });

  it.each<[ProtocolVersion, number]>([
    ["2024-11-05", 79],
    ["2025-03-26", 83],
    ["2025-06-18", 91],
    ["2025-11-25", 145],
    ["2026-07-28", 155],
  ])("have the definitions of their schema: %s has %d", (revision, definitions) => {
    expect(REVISION_FACTS[revision].definitions).toBe(definitions);
  });
});

describe("what the revisions define", () => {
  it.each<[method: string, direction: MethodDirection, revisions: readonly string[]]>([
    ["tools/list", TO_SERVER, ALL],
    ["tools/call", TO_SERVER, ALL],
    ["resources/read", TO_SERVER, ALL],
    ["completion/complete", TO_SERVER, ALL],
    ["tools/call", TO_CLIENT, []],
    ["initialize", TO_SERVER, LEGACY],
    ["notifications/initialized", TO_SERVER, LEGACY],
    ["ping", TO_SERVER, LEGACY],
    ["ping", TO_CLIENT, LEGACY],
    ["logging/setLevel", TO_SERVER, LEGACY],
    ["resources/subscribe", TO_SERVER, LEGACY],
    ["resources/unsubscribe", TO_SERVER, LEGACY],
    ["notifications/roots/list_changed", TO_SERVER, LEGACY],
    ["roots/list", TO_CLIENT, LEGACY],
    ["roots/list", TO_SERVER, []],
    ["sampling/createMessage", TO_CLIENT, LEGACY],
    ["elicitation/create", TO_CLIENT, ["2025-06-18", "2025-11-25"]],
    ["elicitation/create", TO_SERVER, []],
    ["notifications/elicitation/complete", TO_CLIENT, ["2025-11-25"]],
    ["tasks/get", TO_SERVER, ["2025-11-25"]],
    ["tasks/result", TO_SERVER, ["2025-11-25"]],
    ["tasks/list", TO_CLIENT, ["2025-11-25"]],
    ["tasks/cancel", TO_CLIENT, ["2025-11-25"]],
    ["notifications/tasks/status", TO_SERVER, ["2025-11-25"]],
    ["notifications/tasks/status", TO_CLIENT, ["2025-11-25"]],
    ["server/discover", TO_SERVER, ["2026-07-28"]],
    ["subscriptions/listen", TO_SERVER, ["2026-07-28"]],
    ["notifications/subscriptions/acknowledged", TO_CLIENT, ["2026-07-28"]],
    ["notifications/message", TO_CLIENT, ALL],
    ["notifications/progress", TO_CLIENT, ALL],
    ["notifications/progress", TO_SERVER, LEGACY],
    ["notifications/cancelled", TO_SERVER, ALL],
    ["notifications/cancelled", TO_CLIENT, ALL],
    ["notifications/tools/list_changed", TO_CLIENT, ALL],
    ["notifications/tools/list_changed", TO_SERVER, []],
    ["no/such/method", TO_SERVER, []],
  ])("%s %s: %j", (method, direction, revisions) => {
    expect(ALL.filter((revision) => definesMethod(revision, method, direction))).toEqual(revisions);
    expect(revisionsDefining(method, direction)).toEqual(revisions);
  });

  it("includes no server requests in 2026-07-28, which asks inside results instead", () => {
    const { requests, inputRequests } = REVISION_FACTS["2026-07-28"];
    expect(requests[TO_CLIENT]).toEqual([]);
    expect(inputRequests).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
    for (const revision of LEGACY) expect(REVISION_FACTS[revision].inputRequests).toEqual([]);
    expect(definesInputRequest("2026-07-28", "elicitation/create")).toBe(true);
    expect(definesInputRequest("2025-11-25", "elicitation/create")).toBe(false);
    expect(definesInputRequest("2026-07-28", "tools/call")).toBe(false);
  });

  it("reports the newest revision with a handshake", () => {
    expect(revisionsDefining("initialize").at(-1)).toBe("2025-11-25");
  });
});

describe("the eras", () => {
  it("cover every supported revision", () => {
    expect([...LEGACY_REVISIONS, ...MODERN_REVISIONS]).toEqual(ALL);
  });

  it("give a legacy client the revision it asks for if supported, otherwise the newest with a handshake", () => {
    for (const revision of LEGACY_REVISIONS) expect(negotiateLegacy(revision)).toBe(revision);
    for (const other of ["2026-07-28", "1999-01-01", undefined, 5]) expect(negotiateLegacy(other)).toBe("2025-11-25");
  });
});
