// A store in a database: its password stays secret, and a project cannot choose the database.
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";

/** Nothing listens there. */
const NOWHERE = "127.0.0.1:1";
const PASSWORD = "pelican-s3cret";

/** A server that asks for the password and refuses it in a message that contains it. */
async function startParrot(): Promise<AsyncDisposable & { port: number }> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let isGreeted = false;
    socket.on("data", (data) => {
      if (isGreeted) {
        const password = data.subarray(5, -1).toString();
        const fields = Buffer.from(`SFATAL\0CXX000\0Myou said ${password}\0\0`);
        socket.end(Buffer.concat([Buffer.from("E"), lengthOf(fields), fields]));
      } else {
        isGreeted = true;
        // AuthenticationCleartextPassword.
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

function lengthOf(fields: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return length;
}

describe("a store in a database", () => {
  it.each([
    ["list", ["store", "--store", `postgres://ada:${PASSWORD}@${NOWHERE}/db`, "list"]],
    ["init", ["store", "init", `postgres://ada:${PASSWORD}@${NOWHERE}/db`]],
    ["copy", ["store", "copy", `postgres://ada:${PASSWORD}@${NOWHERE}/db`, "folder"]],
    ["an address that cannot be parsed", ["store", "--store", `postgres://ada:${PASSWORD}@[nowhere/db`, "list"]],
  ])("does not show the password of its address: %s", async (_, args) => {
    using place = new Place({});
    const { code, stdout, stderr } = await place.run(args, { env: { TRUNKLINE_LOG_LEVEL: "debug" } });
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it.each([
    ["of its address", `ada:${PASSWORD}`, {}],
    ["in PGPASSWORD", "ada", { PGPASSWORD: PASSWORD }],
  ])("does not show the password %s if the server repeats it", async (_, user, env) => {
    using place = new Place({});
    await using server = await startParrot();
    const address = `postgres://${user}@127.0.0.1:${server.port}/db`;
    const { code, stdout, stderr } = await place.run(["store", "--store", address, "list"], { env });
    expect(code).not.toBe(0);
    expect(stderr).toContain("you said");
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it.skipIf(process.platform !== "linux")("does not show the password in the words of its process", async () => {
    using place = new Place({});
    // A server that never answers.
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const connected = once(silent, "connection");
    const running = place.startProcess(["store", `--store=postgres://ada:${PASSWORD}@127.0.0.1:${port}/db`, "list"]);
    await connected;
    expect(readFileSync(`/proc/${running.pid}/cmdline`, "utf8")).not.toContain(PASSWORD);
    const ended = once(running, "close");
    running.kill("SIGKILL");
    await ended;
    silent.close();
  });

  it("is not chosen by a project, only by the user's own settings", async () => {
    using place = new Place({ ".git/HEAD": "ref: refs/heads/main", "a.md": "pelicans" });
    const settings = { store: `postgres://${NOWHERE}/db` };
    place.write(".trunkline/settings.json", settings);
    mkdirSync(join(place.home, ".trunkline"), { recursive: true });
    // Without this file, settings are not even read to find the store.
    writeFileSync(join(place.home, ".trunkline", "settings.json"), "{}");
    expect(await place.run(["store", "add", "a.md"])).toMatchObject({ code: 0 });
    writeFileSync(join(place.home, ".trunkline", "settings.json"), JSON.stringify(settings));
    expect(await place.run(["store", "list"])).toMatchObject({ code: 1, stderr: expect.stringContaining(NOWHERE) });
  });
});
