// A real server for tests: a cluster in a temporary folder, from the installed binaries, on a socket in that folder.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PostgresCluster extends AsyncDisposable {
  /** Creates an empty database and returns its address. */
  createDatabase(): string;
  /** Runs a statement as the superuser. */
  run(sql: string, database?: string): string;
  stop(mode?: "fast" | "immediate"): void;
  start(): void;
  /** The statements that make the store of a database again. */
  dump(database: string): string;
  /** Creates a database from a dump of a store, and returns its address. */
  load(dump: string): string;
  /** The folder of the server, for certificates and rules, which {@link reload} reads. */
  readonly data: string;
  reload(): void;
  /** Stops all processes of the server as SIGSTOP does: it answers nothing, but its connections stay open. */
  freeze(): void;
  thaw(): void;
}

/** The name of the database in an address. */
export function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

const NOBODY = 65534;
const ROOTS = ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"];

/** The folder of the server's programs, or undefined if it is not installed. */
export function postgresBinaries(): string | undefined {
  const folders = ROOTS.flatMap((root) =>
    existsSync(root) ? readdirSync(root).map((name) => join(root, name, "bin")) : [],
  );
  return folders
    .filter((folder) => existsSync(join(folder, "initdb")))
    .sort()
    .at(-1);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** Starts a server. As root, it runs as nobody, because PostgreSQL refuses to run as root. */
export async function startPostgres(binaries: string): Promise<PostgresCluster> {
  // Not in the tests' own folder, which only their user can enter.
  const isRoot = process.getuid?.() === 0;
  const folder = mkdtempSync(join(isRoot ? "/tmp" : tmpdir(), "trunkline-pg-"));
  const data = join(folder, "db");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) {
    chmodSync(folder, 0o755);
    chownSync(folder, NOBODY, NOBODY);
    chownSync(data, NOBODY, NOBODY);
  }
  const run = (program: string, args: readonly string[]) => {
    const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: "C" };
    const command = isRoot
      ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", join(binaries, program), ...args]
      : [join(binaries, program), ...args];
    return String(
      execFileSync(command[0] as string, command.slice(1), { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] }),
    );
  };
  const port = await freePort();
  run("initdb", ["--no-sync", "--auth=trust", "--locale=C", "--encoding=UTF8", "--username=postgres", "-D", data]);
  const settings = `-p ${port} -h 127.0.0.1 -k ${folder} -c fsync=off`;
  const start = () =>
    void execQuiet(() => run("pg_ctl", ["-w", "-D", data, "-l", join(folder, "log"), "-o", settings, "start"]));
  const stop = (mode = "fast") => void execQuiet(() => run("pg_ctl", ["-w", "-m", mode, "-D", data, "stop"]));
  start();
  let databases = 0;
  const psql = (sql: string, database = "postgres") =>
    run("psql", ["-h", folder, "-p", String(port), "-U", "postgres", "-d", database, "-qtA", "-c", sql]);
  const signalAll = (signal: "SIGSTOP" | "SIGCONT") => {
    const leader = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    const all = [leader, ...childrenOf(leader)];
    for (const pid of signal === "SIGSTOP" ? all : all.reverse()) process.kill(pid, signal);
  };
  const createDatabase = () => {
    const name = `store_${++databases}`;
    psql(`CREATE DATABASE ${name}`);
    return `postgres://postgres@127.0.0.1:${port}/${name}`;
  };
  const at = (database: string) => ["-h", folder, "-p", String(port), "-U", "postgres", "-d", database];
  return {
    data,
    reload: () => void run("pg_ctl", ["-D", data, "reload"]),
    dump: (database) => run("pg_dump", [...at(database), "--schema=trunkline", "--no-owner", "--no-privileges"]),
    load: (dump) => {
      const url = createDatabase();
      const file = join(folder, `${databaseOf(url)}.sql`);
      // A dump of a schema leaves out what it needs from others.
      writeFileSync(file, `CREATE EXTENSION pg_trgm;\n${dump}`, { mode: 0o644 });
      run("psql", [...at(databaseOf(url)), "-q", "-v", "ON_ERROR_STOP=1", "-f", file]);
      return url;
    },
    createDatabase,
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    run: psql,
    start,
    stop,
    async [Symbol.asyncDispose]() {
      stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      return status.includes(`\nPPid:\t${parent}\n`) ? [Number(name)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** Stopping a server that is stopped is fine. */
function execQuiet(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!/PID file|no server running/i.test(String((error as { stderr?: unknown }).stderr))) throw error;
  }
}
