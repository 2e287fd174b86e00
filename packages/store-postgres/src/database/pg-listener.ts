// Listens for notifications on a connection of its own, and connects again when that is lost.
import type { Logger } from "@trunkline/core";
import type pg from "pg";
import { type DriverConnection, storeError } from "./sql.js";

const RELISTEN_MS = 1000;
/** A connection on which nothing is sent can be gone without anyone noticing. */
const CHECK_MS = 15_000;
const ANSWER_MS = 5000;

interface ListenOptions {
  readonly open: () => pg.Client;
  readonly channel: string;
  readonly listener: (payload: string) => void;
  /** Runs on each new connection before it listens. */
  readonly prepare?: (connection: DriverConnection) => Promise<void>;
  readonly logger: Logger;
  readonly place: string;
}

/** Rejects if the first connection fails. Call the returned function to stop. */
export async function listenTo(options: ListenOptions): Promise<() => Promise<void>> {
  const { open, channel, listener, prepare, logger, place } = options;
  let isStopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  const connect = async (): Promise<void> => {
    const next = open();
    let hasEnded = false;
    next.on("error", () => {});
    next.on("end", () => {
      hasEnded = true;
      if (isStopped || client !== next) return;
      client = undefined;
      clearTimeout(timer);
      timer = setTimeout(() => void again(), RELISTEN_MS).unref();
    });
    try {
      await next.connect();
      await prepare?.(connectionOf(next));
      await next.query(`LISTEN ${channel}`);
      if (hasEnded) throw new Error("Connection terminated");
    } catch (error) {
      void next.end().catch(() => {});
      throw error;
    }
    next.on("notification", ({ payload = "" }) => listener(payload));
    if (isStopped) return await next.end();
    client = next;
    timer = setTimeout(() => void check(next), CHECK_MS).unref();
  };
  const check = async (current: pg.Client): Promise<void> => {
    try {
      // pg knows this option; its types do not.
      await current.query({ text: "SELECT 1", query_timeout: ANSWER_MS } as pg.QueryConfig);
      if (client === current) timer = setTimeout(() => void check(current), CHECK_MS).unref();
    } catch {
      // Its end connects again. A hanging query makes end close the socket.
      await current.end().catch(() => {});
    }
  };
  const again = async (): Promise<void> => {
    try {
      await connect();
      // Notifications were lost meanwhile.
      listener("");
    } catch (error) {
      logger.debug("listening to the store's database failed", { error: storeError(error, place).message });
      if (!isStopped) timer = setTimeout(() => void again(), RELISTEN_MS).unref();
    }
  };
  await connect();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    const ending = client?.end().catch(() => {});
    await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, RELISTEN_MS).unref())]);
  };
}

function connectionOf(client: pg.Client): DriverConnection {
  return {
    async query(text, values) {
      const result = await client.query({ text, values: values as unknown[] });
      return { rows: result.rows, count: result.rowCount ?? 0 };
    },
    exec: async (text) => (await client.query(text)).rows,
  };
}
