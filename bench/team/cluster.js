// A PostgreSQL server for one part of the benchmark: a cluster in a temporary folder, from the installed programs, with
// the settings that it has after installation. Writes are as durable as they are in use.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NOBODY = 65534;
const ROOTS = ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"];

/**
 * @typedef {object} Cluster
 * @property {string} version
 * @property {() => string} createDatabase Creates an empty database and returns its address.
 * @property {(sql: string, database?: string) => string} run Runs a statement as the superuser.
 * @property {() => void} stop Stops the server and removes its files. Idempotent.
 */

/** The folder of the server's programs; undefined if it is not installed. */
function binaries() {
  const folders = ROOTS.flatMap((root) =>
    existsSync(root) ? readdirSync(root).map((name) => join(root, name, "bin")) : [],
  );
  return folders
    .filter((folder) => existsSync(join(folder, "initdb")))
    .sort()
    .at(-1);
}

/** Whether a server can be started. */
export function hasPostgres() {
  return binaries() !== undefined;
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/**
 * Starts a server. As root, it runs as nobody, because PostgreSQL refuses to run as root. `settings` are server settings
 * such as `shared_preload_libraries=pg_stat_statements`.
 * @param {{ settings?: readonly string[] }} [options]
 * @returns {Promise<Cluster>}
 */
export async function startCluster({ settings = [] } = {}) {
  const programs = binaries();
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const isRoot = process.getuid?.() === 0;
  const folder = mkdtempSync(join(isRoot ? "/tmp" : tmpdir(), "trunkline-bench-pg-"));
  const data = join(folder, "db");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) {
    chmodSync(folder, 0o755);
    for (const path of [folder, data]) chownSync(path, NOBODY, NOBODY);
  }
  /** @param {string} program @param {readonly string[]} args */
  const run = (program, args) => {
    const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: "C" };
    const own = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    const [command = "", ...rest] = [...own, join(programs, program), ...args];
    return String(execFileSync(command, rest, { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] }));
  };
  const port = await freePort();
  run("initdb", ["--auth=trust", "--locale=C", "--encoding=UTF8", "--username=postgres", "-D", data]);
  const given = settings.map((setting) => ` -c ${setting}`).join("");
  const server = `-p ${port} -h 127.0.0.1 -k ${folder}${given}`;
  run("pg_ctl", ["-w", "-D", data, "-l", join(folder, "log"), "-o", server, "start"]);
  let databases = 0;
  let isStopped = false;
  /** @param {string} sql @param {string} [database] */
  const psql = (sql, database = "postgres") =>
    run("psql", ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-d", database, "-qtA", "-c", sql]).trim();
  const stop = () => {
    if (isStopped) return;
    isStopped = true;
    run("pg_ctl", ["-w", "-m", "immediate", "-D", data, "stop"]);
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    version: psql("SHOW server_version").split(" ")[0] ?? "",
    createDatabase() {
      const name = `store_${++databases}`;
      psql(`CREATE DATABASE ${name}`);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    run: psql,
    stop,
  };
}
