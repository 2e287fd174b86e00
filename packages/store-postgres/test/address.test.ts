import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseAddress, placeOf, withoutPassword } from "../src/database/address.js";
import { findPassword } from "../src/database/password-file.js";

describe("the address of a database", () => {
  it("names host, port, user, database and password, percent-encoded where needed", () => {
    expect(parseAddress("postgres://ada:p%40ss%2Fword@db.example.com:6432/team%20store")).toMatchObject({
      ...{ host: "db.example.com", port: 6432, user: "ada", password: "p@ss/word", database: "team store", tls: false },
    });
    expect(parseAddress("postgresql://ada@%2Frun%2Fpostgresql/store")).toMatchObject({ host: "/run/postgresql" });
    expect(parseAddress("postgres://ada@/store?host=/run/pg&port=6000")).toMatchObject({ host: "/run/pg", port: 6000 });
    expect(parseAddress("postgres://ada@db")).toMatchObject({ port: 5432, database: "ada", password: undefined });
  });

  it("is shown without user and password", () => {
    const url = "postgres://ada:s3cret-word@db.example.com/store";
    expect([placeOf(url), withoutPassword(url)]).toEqual([
      "db.example.com:5432/store",
      "postgres://ada@db.example.com/store",
    ]);
  });

  it.each([
    ["postgres://ada@db/store?sslmode=require", { rejectUnauthorized: false }],
    ["postgres://ada@db/store?sslmode=verify-full", { checkServerIdentity: expect.any(Function) }],
    ["postgres://ada@db/store?sslmode=verify-full&sslrootcert=system", { checkServerIdentity: expect.any(Function) }],
    ["postgres://ada@db/store?sslmode=verify-ca", { checkServerIdentity: expect.any(Function) }],
    ["postgres://ada@db/store?sslmode=disable", false],
    ["postgres://ada@%2Frun%2Fpg/store?sslmode=verify-full", false],
  ])("chooses encryption as libpq does: %s", (url, tls) => {
    expect(parseAddress(url).tls).toEqual(tls);
  });

  it.each([
    ["postgres://ada:s3cret-word@db/store?sslmode=prefer", "sslmode=prefer, which is not supported"],
    [
      "postgres://ada:s3cret-word@db/store?sslmode=verify-full&sslrootcert=/no/such/file",
      "Cannot read the file in sslrootcert",
    ],
    ["postgres://ada:s3cret-word@db/store?sslrootcert=system", "certificates but no sslmode"],
    ["postgres://ada:s3cret-word@db/store?channel_binding=require", 'the parameter "channel_binding"'],
    ["postgres://ada@db/store?password=s3cret-word", 'the parameter "password"'],
    ["postgres://ada:s3cret-word@one,two/store", "several hosts"],
    ["postgres://ada:s3cret-word@db:99999/store", "is not valid"],
    ["postgres://ada:s3cret-word%zz@db/store", "not percent-encoded"],
    ["postgres://ada:s3cret/word@db/store", ""],
  ])("is refused clearly, without its password: %s", (url, message) => {
    const failure = (() => {
      try {
        return parseAddress(url);
      } catch (error) {
        return error as Error;
      }
    })();
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining(message) });
    expect(JSON.stringify([failure, String(failure)])).not.toMatch(/s3cret/);
  });
});

describe("the password of an address", () => {
  let home: string;
  const url = "postgres://ada@db.example.com/store";
  const pgpass = (text: string, mode = 0o600) => {
    writeFileSync(join(home, ".pgpass"), text);
    chmodSync(join(home, ".pgpass"), mode);
  };

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "trunkline-pgpass-"));
  });

  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it("comes from the address, then PGPASSWORD, then the password file", async () => {
    pgpass("db.example.com:5432:store:ada:from-file\n");
    const env = { PGPASSWORD: "from-env" };
    expect(await findPassword("postgres://ada:written@db.example.com/store", { env, home })).toEqual({
      password: "written",
    });
    expect(await findPassword(url, { env, home })).toEqual({ password: "from-env" });
    expect(await findPassword(url, { env: {}, home })).toEqual({ password: "from-file" });
  });

  it("is the first line of the file that fits", async () => {
    pgpass(
      `# comment\nother:*:*:*:no\n*:5433:*:*:no\n*:*:*:bob:no\nhalf a line\n*:*:store:ada:pass\\:wo\\\\rd\n*:*:*:*:later\n`,
    );
    expect(await findPassword(url, { env: {}, home })).toEqual({ password: "pass:wo\\rd" });
    expect(await findPassword("postgres://ada@%2Frun%2Fpg/other", { env: {}, home })).toEqual({ password: "later" });
  });

  it("is not read from a file that others can read", async () => {
    pgpass("*:*:*:*:from-file\n", 0o644);
    expect(await findPassword(url, { env: {}, home })).toEqual({
      password: undefined,
      ignoredFile: join(home, ".pgpass"),
    });
  });

  it("is missing without a file", async () => {
    expect(await findPassword(url, { env: { PGPASSFILE: join(home, "none") }, home })).toEqual({ password: undefined });
  });
});
