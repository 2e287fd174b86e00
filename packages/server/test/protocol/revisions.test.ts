import { SUPPORTED_PROTOCOL_VERSIONS } from "@trunkline/client";
import { expect, test } from "vitest";
import { LEGACY_REVISIONS, MODERN_REVISIONS, negotiateLegacy } from "../../src/protocol/revisions.js";

test("the server speaks the revisions that the client does", () => {
  expect([...LEGACY_REVISIONS, ...MODERN_REVISIONS]).toEqual([...SUPPORTED_PROTOCOL_VERSIONS]);
});

test("a legacy client gets what it asks for where it is known, else the newest with a handshake", () => {
  for (const revision of LEGACY_REVISIONS) expect(negotiateLegacy(revision)).toBe(revision);
  for (const other of ["2026-07-28", "1999-01-01", undefined, 5]) expect(negotiateLegacy(other)).toBe("2025-11-25");
});
