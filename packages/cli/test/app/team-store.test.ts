import { Redactor } from "@trunkline/core";
import * as storePostgres from "@trunkline/store-postgres";
import { describe, expect, it } from "vitest";
import {
  addressFolder,
  isStoreAddress,
  loadStorePostgres,
  redactAddress,
  type StorePostgresPackage,
} from "../../src/app/team-store.js";

describe("a store that is named by an address", () => {
  it("is described like the package that opens it", () => {
    const described: StorePostgresPackage = storePostgres;
    expect(described.placeOf("postgres://ada:pw@db.example.com/store")).toBe("db.example.com:5432/store");
  });

  it("needs a package, which the error names if it is missing", async () => {
    await expect(loadStorePostgres({ version: "0.0.0", home: "/home/ada/.trunkline" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("@trunkline/store-postgres@0.0.0"),
      hint: expect.stringContaining("npm install"),
    });
  });

  it("is told from a folder by its scheme", () => {
    expect(["postgres://h/d", "postgresql://h/d", "POSTGRES://h/d"].every(isStoreAddress)).toBe(true);
    expect(["postgres", "./postgres:/x", "/var/postgres://x"].some(isStoreAddress)).toBe(false);
  });

  it("has the same folder on this machine whatever its password is", () => {
    expect(addressFolder("/h", "postgres://a:one@h/d")).toBe(addressFolder("/h", "postgres://a:two@h/d"));
    expect(addressFolder("/h", "postgres://a@h/d")).not.toBe(addressFolder("/h", "postgres://a@h/e"));
  });

  it("does not show its password, encoded or not", () => {
    const redactor = new Redactor();
    redactAddress({ redactor }, "postgres://ada:s3cr%40t-word@h/d");
    expect(redactor.text("s3cr%40t-word and s3cr@t-word")).not.toMatch(/s3cr/);
  });
});
