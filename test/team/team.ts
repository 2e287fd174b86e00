// A whole team for a test: a database, gateways, and nginx in front of them.
import { initPostgresStore } from "../../packages/store-postgres/src/index.js";
import {
  type PostgresCluster,
  postgresBinaries,
  startPostgres,
} from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { testServer } from "../e2e/server-entries.js";
import { needs } from "../support/needs.js";
import { type GatewayOptions, GatewayProcess, type TeamPlace, teamPlace } from "./gateway-process.js";
import { hasNginx, startBalancer } from "./nginx.js";

export const binaries = postgresBinaries();
export const hasPostgres = binaries !== undefined;
export const hasTeam = hasPostgres && hasNginx;
export const needsPostgres = needs("postgresql", hasPostgres);
export const needsTeam = needs("postgresql and nginx", hasTeam);

type Balancer = Awaited<ReturnType<typeof startBalancer>>;

export interface Team extends AsyncDisposable {
  readonly cluster: PostgresCluster;
  readonly database: string;
  readonly url: string;
  readonly place: TeamPlace;
  readonly gateways: readonly GatewayProcess[];
}

export interface TeamOptions {
  readonly servers?: Record<string, unknown>;
  readonly gateways?: readonly (GatewayOptions & { readonly name: string })[];
}

const TWO = [{ name: "gateway-1" }, { name: "gateway-2" }];

/** Starts a database and gateways on it. */
export async function startTeam(options: TeamOptions = {}): Promise<Team> {
  const cluster = await startPostgres(binaries ?? "");
  const url = cluster.createDatabase();
  const place = teamPlace(url, options.servers ?? { hello: testServer("hello"), slow: testServer("slow") });
  const gateways: GatewayProcess[] = [];
  const close = async () => {
    await Promise.all(gateways.map((gateway) => gateway.end("SIGKILL")));
    await cluster[Symbol.asyncDispose]();
    place.remove();
  };
  try {
    await initPostgresStore(url);
    for (const gateway of options.gateways ?? TWO) gateways.push(await GatewayProcess.open(place, gateway));
  } catch (error) {
    await close();
    throw error;
  }
  const database = url.slice(url.lastIndexOf("/") + 1);
  return { cluster, database, url, place, gateways, [Symbol.asyncDispose]: close };
}

/** Starts a team behind nginx. */
export async function startBalancedTeam(
  options: TeamOptions & { readonly balancer?: Parameters<typeof startBalancer>[1] } = {},
): Promise<Team & { readonly balancer: Balancer }> {
  const team = await startTeam(options);
  const balancer = await startBalancer(team.gateways, options.balancer).catch(async (error: unknown) => {
    await team[Symbol.asyncDispose]();
    throw error;
  });
  return {
    ...team,
    balancer,
    async [Symbol.asyncDispose]() {
      await balancer[Symbol.asyncDispose]();
      await team[Symbol.asyncDispose]();
    },
  };
}

/** How many calls of an operation a gateway has finished. */
export async function callsOf(gateway: GatewayProcess, operation: string): Promise<number> {
  const { text } = await gateway.page("/metrics");
  const found = text.matchAll(/^trunkline_calls_total\{operation="([^"]+)",outcome="[^"]+"\} (\d+)$/gm);
  return [...found].reduce((sum, [, name, count]) => sum + (name === operation ? Number(count) : 0), 0);
}

/** The arguments of `execute` for one operation of the store. */
export function operation(op: string, params: Record<string, unknown>): Record<string, unknown> {
  return { operations: [{ op, params }] };
}
