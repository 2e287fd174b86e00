import { Redactor } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { addressFolder, isStoreAddress, redactAddress } from "../../src/app/store-address.js";

describe("a store that is named by an address", () => {
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
