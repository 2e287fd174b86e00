import { describe, expect, it } from "vitest";
import { storeError } from "../src/database/sql.js";

const PLACE = "db.example.com:5432/trunkline";
const failure = (code: string, message = "driver's message") => Object.assign(new Error(message), { code });

describe("an error of the store's database", () => {
  it.each([
    ["28P01", /refused: the password is wrong or missing/, /PGPASSWORD or ~\/\.pgpass/],
    ["28000", /refused: the user may not connect/, /pg_hba\.conf/],
    ["3D000", /refused: the database does not exist/, /createdb/],
    ["42501", /refused: the user lacks a privilege/, /trunkline store init/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /not signed by a known authority/, /sslrootcert/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /certificate is for another host/, /verify-ca/],
  ])("of the kind %s is final, and its hint fits the reason", (code, message, hint) => {
    expect(storeError(failure(code), PLACE)).toMatchObject({
      code: "STORE_UNAVAILABLE",
      retryable: false,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  it.each([
    ["ECONNREFUSED", /the address is right/],
    ["ENOTFOUND", /the address is right/],
    ["57P01", /^Try again/],
    ["ECONNRESET", /^Try again/],
  ])("of the kind %s may pass, and nothing is lost", (code, hint) => {
    const error = storeError(failure(code), PLACE);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, hint: expect.stringMatching(hint) });
    expect(error.hint).toContain("nothing that was acknowledged is lost");
  });
});
