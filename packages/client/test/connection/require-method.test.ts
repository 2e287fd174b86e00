import { SUPPORTED_PROTOCOL_VERSIONS } from "@trunkline/protocol";
import { describe, expect, it } from "vitest";
import { requireMethod } from "../../src/connection/outgoing.js";

const TO_CLIENT = "server-to-client";

describe("a required method", () => {
  it.each([
    ["2025-11-25", "tools/call", undefined],
    ["2024-11-05", "notifications/initialized", undefined],
    ["2026-07-28", "elicitation/create", undefined],
    ["2025-06-18", "elicitation/create", TO_CLIENT],
  ] as const)("is allowed if revision %s defines %s", (revision, method, direction) => {
    expect(() => requireMethod(revision, method, direction)).not.toThrow();
  });

  it.each([
    ["2026-07-28", "ping", "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"],
    ["2026-07-28", "logging/setLevel", "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"],
    ["2024-11-05", "elicitation/create", "2025-06-18, 2025-11-25, 2026-07-28"],
    ["2025-11-25", "server/discover", "2026-07-28"],
    ["2025-06-18", "tasks/get", "2025-11-25"],
  ])(
    "is an error that says which revisions have it if revision %s does not define %s",
    (revision, method, definedBy) => {
      expect(() => requireMethod(revision, method)).toThrowError(
        expect.objectContaining({
          code: "PROTOCOL",
          message: `Revision ${revision} does not define method ${method}.`,
          hint: `It is defined by ${definedBy}.`,
          data: { revision, method, definedBy: definedBy.split(", ") },
        }),
      );
    },
  );

  it.each(["2024-10-07", "2099-01-01", "", "draft", "__proto__", "toString"])(
    "is an error in revision %j",
    (revision) => {
      expect(() => requireMethod(revision, "tools/call")).toThrowError(
        expect.objectContaining({
          code: "PROTOCOL",
          message: `Revision ${revision} of the protocol is not supported.`,
          hint: `Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}.`,
        }),
      );
    },
  );

  it("says so if no revision has it", () => {
    expect(() => requireMethod("2025-11-25", "tools/destroy")).toThrowError(
      expect.objectContaining({ hint: "No supported revision defines it." }),
    );
  });

  it("is an error in the wrong direction", () => {
    expect(() => requireMethod("2026-07-28", "elicitation/create", TO_CLIENT)).toThrowError(
      expect.objectContaining({
        message: "Revision 2026-07-28 does not define method elicitation/create from server to client.",
        hint: "It is defined by 2025-06-18, 2025-11-25.",
      }),
    );
  });
});
