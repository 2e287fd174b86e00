import { describe, expect, it } from "vitest";
import { readChallenge } from "../../src/auth/challenge.js";
import { hasScopes, joinScopes } from "../../src/auth/scopes.js";

describe("scopes", () => {
  it("are joined without repetition, in the order in which they first appear", () => {
    expect(joinScopes("read  write", undefined, "", "write admin")).toBe("read write admin");
    expect(joinScopes(undefined, " ")).toBeUndefined();
  });

  it("include others if none is missing", () => {
    expect(hasScopes("read write", "write read")).toBe(true);
    expect(hasScopes("read write", undefined)).toBe(true);
    expect(hasScopes("read", "read write")).toBe(false);
    expect(hasScopes("", "read")).toBe(false);
  });
});

describe("a challenge", () => {
  it("says where the metadata of the server is, and what is missing", () => {
    const url = "https://example.com/.well-known/oauth-protected-resource";
    expect(
      readChallenge(`Bearer error="insufficient_scope", scope="a b", resource_metadata="${url}", realm=x`),
    ).toEqual({ error: "insufficient_scope", scope: "a b", resourceMetadataUrl: new URL(url) });
    expect(readChallenge("dpop scope=a")).toEqual({ scope: "a" });
  });

  it.each([undefined, "", "Bearer", 'Basic realm="x", scope="a"', 'Bearer resource_metadata="not a url"'])(
    "%j says nothing that we can use",
    (header) => expect(readChallenge(header)).toEqual({}),
  );
});
