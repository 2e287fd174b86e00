// Who connects, and how: passwords from every place, secrets, encryption.
import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Place } from "../../../test/e2e/command.js";
import { StandInKeychain } from "../../../test/support/stand-in-keychain.js";
import { initPostgresStore, openPostgresStore } from "../src/index.js";
import { databaseOf, type PostgresCluster, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();
const PASSWORD = "pelican-s3cret:@/%";

describe.skipIf(binaries === undefined)("a login at the store's database (needs postgresql)", () => {
  let cluster: PostgresCluster;
  let url: string;
  let place: Place;

  beforeAll(async () => {
    cluster = await startPostgres(binaries as string);
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
        ...["-addext", "subjectAltName=DNS:localhost", "-keyout", "server.key", "-out", "server.crt"],
      ],
      { cwd: cluster.data, stdio: "ignore" },
    );
    if (process.getuid?.() === 0) {
      for (const name of ["server.key", "server.crt"]) chownSync(join(cluster.data, name), 65534, 65534);
    }
    appendFileSync(join(cluster.data, "postgresql.conf"), "ssl = on\n");
    const rules = readFileSync(join(cluster.data, "pg_hba.conf"), "utf8");
    writeFileSync(
      join(cluster.data, "pg_hba.conf"),
      `host all ada all scram-sha-256\nhostssl all tls all trust\nhostnossl all tls all reject\n${rules}`,
    );
    cluster.run(`CREATE ROLE ada LOGIN SUPERUSER PASSWORD '${PASSWORD}'`);
    cluster.run("CREATE ROLE tls LOGIN SUPERUSER");
    cluster.reload();
    const admin = cluster.createDatabase();
    await initPostgresStore(admin);
    url = admin.replace("postgres@", "ada@");
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  beforeEach(() => {
    place = new Place({});
    return () => place[Symbol.dispose]();
  });

  const list = (address: string, env: Record<string, string> = {}) =>
    place.run(["store", "--store", address, "status", "--json"], { env });
  const works = { code: 0, stderr: "" };

  it("takes the password from the address, PGPASSWORD and .pgpass, and never shows it", async () => {
    const written = url.replace("ada@", `ada:${encodeURIComponent(PASSWORD)}@`);
    expect(await list(written)).toMatchObject(works);
    expect(await list(url, { PGPASSWORD: PASSWORD })).toMatchObject(works);
    writeFileSync(join(place.home, ".pgpass"), `*:*:*:ada:${PASSWORD.replace(":", "\\:")}\n`, { mode: 0o600 });
    expect(await list(url)).toMatchObject(works);
    for (const [args, env] of [
      [["store", "--store", written, "status", "--json", "--detailed"], {}],
      [["doctor", "--json"], { TRUNKLINE_STORE: written }],
      [["doctor"], { TRUNKLINE_STORE: url, PGPASSWORD: PASSWORD }],
      [["doctor"], { TRUNKLINE_STORE: url, PGPASSWORD: `${PASSWORD}-wrong` }],
    ] as const) {
      const { stdout, stderr } = await place.run(args, { env: { ...env, TRUNKLINE_LOG_LEVEL: "debug" } });
      expect(stdout + stderr).toContain(databaseOf(url));
      expect(stdout + stderr).not.toMatch(/s3cret/);
    }
  });

  it("says that the password is wrong or missing, and does not try the environment of the process", async () => {
    process.env.PGPASSWORD = PASSWORD;
    try {
      expect(await list(url)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("the password is wrong or missing"),
      });
    } finally {
      delete process.env.PGPASSWORD;
    }
    expect(await list(url, { PGPASSWORD: "wrong" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the password is wrong or missing"),
    });
  });

  it("takes the password from the keychain, on the command line and in the settings", async () => {
    const keychain = new StandInKeychain(join(place.base, "bin"));
    const env = { PATH: keychain.path };
    await place.run(["secrets", "set", "team-db"], { env, input: PASSWORD });
    const address = url.replace("ada@", "ada:${secret:team-db}@");
    expect(await list(address, env)).toMatchObject(works);
    expect(await list(url.replace("ada@", "ada:${env:TEAM_DB}@"), { TEAM_DB: PASSWORD })).toMatchObject(works);
    expect(await list(url.replace("ada@", "ada:${secret:none}@"), env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("trunkline secrets set none"),
    });
    expect(await list(url.replace("ada@", "ada:${cmd:echo x}@"), env)).toMatchObject({
      stderr: expect.stringContaining("only in your own settings"),
    });
    expect(await list(url.replace("127.0.0.1", "${env:HOST}"), env)).toMatchObject({
      stderr: expect.stringContaining("can only be its password"),
    });
    const settings = join(place.home, ".trunkline");
    mkdirSync(settings, { recursive: true });
    const command = ["${cmd:printf %s '", PASSWORD, "'}"].join("");
    for (const reference of ["${secret:team-db}", command]) {
      writeFileSync(
        join(settings, "settings.json"),
        JSON.stringify({ store: url.replace("ada@", `ada:${reference}@`) }),
      );
      const { code, stdout, stderr } = await place.run(["store", "status"], { env });
      expect([code, stdout + stderr]).toEqual([0, expect.not.stringContaining("s3cret")]);
    }
  });

  it("encrypts the connection as sslmode says", async () => {
    const at = (host: string, parameters: string) =>
      url.replace("ada@127.0.0.1", `tls@${host}`) + (parameters === "" ? "" : `?${parameters}`);
    const open = async (address: string) => await (await openPostgresStore({ url: address })).close();
    const root = `sslrootcert=${join(cluster.data, "server.crt")}`;
    await open(at("localhost", "sslmode=require"));
    await open(at("localhost", `sslmode=verify-full&${root}`));
    await open(at("127.0.0.1", `sslmode=verify-ca&${root}`));
    const refused = (address: string, message: string) =>
      expect(open(address)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        retryable: false,
        message: expect.stringContaining(message),
      });
    await refused(at("127.0.0.1", `sslmode=verify-full&${root}`), "its certificate is for another host");
    await refused(at("localhost", "sslmode=verify-full"), "not signed by a known authority");
    await refused(at("localhost", ""), "the user may not connect");
  });
});
