import { describe, expect, it } from "vitest";
import { clientOf, isRegisteredFor, isSecretOver, requireWayToRegister } from "../../src/auth/registration.js";

const ISSUER = "https://login.example";
const metadata = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  response_types_supported: ["code"],
};

describe("client of a grant", () => {
  const grant = { client: { client_id: "registered" } };

  it("is the registered one unless the entry names another", () => {
    expect(clientOf(grant, undefined, ISSUER)).toEqual({ client_id: "registered" });
    expect(clientOf(grant, { grant: "authorization_code" }, ISSUER)).toEqual({ client_id: "registered" });
    expect(clientOf(undefined, undefined, ISSUER)).toBeUndefined();
    const named = { grant: "authorization_code", clientId: "named", clientSecret: "secret" } as const;
    expect(clientOf(grant, named, ISSUER)).toEqual({ client_id: "named", client_secret: "secret", issuer: ISSUER });
  });

  it("belongs to the issuer named in the entry", () => {
    const named = { grant: "authorization_code", clientId: "named", issuer: "https://other.example" } as const;
    expect(clientOf(undefined, named, ISSUER)).toEqual({ client_id: "named", issuer: "https://other.example" });
  });
});

describe("registration", () => {
  it("is valid for the scopes it was made with, or for all if it names none", () => {
    const limited = { client_id: "c", redirect_uris: [], scope: "read write" };
    expect(isRegisteredFor(limited, "read")).toBe(true);
    expect(isRegisteredFor(limited, "read write admin")).toBe(false);
    expect(isRegisteredFor(limited, undefined)).toBe(true);
    expect(isRegisteredFor({ client_id: "c" }, "admin")).toBe(true);
  });

  it("expires with its secret, and never if the expiry is 0", () => {
    const until = (seconds: number) =>
      isSecretOver({ client_id: "c", client_secret_expires_at: seconds, redirect_uris: [] });
    expect([until(0), until(1), until(4_000_000_000)]).toEqual([false, true, false]);
    expect(isSecretOver({ client_id: "c" })).toBe(false);
  });
});

describe("registering as a client", () => {
  const found = { authorizationServerUrl: ISSUER, authorizationServerMetadata: metadata };
  const byHand = { server: "wiki", settings: undefined, clientMetadataUrl: undefined, isRegistered: false };

  it("fails with instructions if only manually registered programs may sign in", () => {
    expect(() => requireWayToRegister(found, byHand)).toThrow(
      expect.objectContaining({ code: "AUTH_REQUIRED", hint: expect.stringContaining("client_id") }),
    );
    // A metadata document only works if the authorization server reads it.
    expect(() => requireWayToRegister(found, { ...byHand, clientMetadataUrl: "https://us.example/client" })).toThrow();
  });

  it.each<[string, Parameters<typeof requireWayToRegister>[0], Partial<Parameters<typeof requireWayToRegister>[1]>]>([
    ["by a client in the entry", found, { settings: { grant: "authorization_code", clientId: "c" } }],
    ["by an earlier registration", found, { isRegistered: true }],
    [
      "by registering now",
      { ...found, authorizationServerMetadata: { ...metadata, registration_endpoint: `${ISSUER}/register` } },
      {},
    ],
    [
      "by a document that stands for us",
      { ...found, authorizationServerMetadata: { ...metadata, client_id_metadata_document_supported: true } },
      { clientMetadataUrl: "https://us.example/client" },
    ],
    ["at the fixed path of the first revisions", { authorizationServerUrl: ISSUER }, {}],
  ])("is possible %s", (_, server, more) => {
    expect(() => requireWayToRegister(server, { ...byHand, ...more })).not.toThrow();
  });
});
