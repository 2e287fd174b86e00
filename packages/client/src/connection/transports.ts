// Selects the wire to a server, and the fallback if the server does not support the first one.

import type { HttpServer, ServerDefinition, StdioServer } from "@trunkline/config";
import { type Logger, nestingVariable, redactedUrl, TrunklineError } from "@trunkline/core";
import { DEFAULT_MAX_MESSAGE_BYTES } from "@trunkline/protocol";
import type { ServerAuth } from "../auth/server-auth.js";
import type { LargeMessages } from "../results/large-messages.js";
import { HttpSseWire } from "../wire/http-sse-wire.js";
import { InProcessWire } from "../wire/in-process-wire.js";
import type { Wire } from "../wire/message-wire.js";
import { StdioWire } from "../wire/stdio-wire.js";
import { StreamableHttpWire } from "../wire/streamable-http-wire.js";
import { type RunPlaces, runFolder, withoutForeignPrograms } from "./run-folder.js";
import { serverEnvironment } from "./server-environment.js";

/** The transports of the protocol, and the one to a server in this process. `http+sse` is from the first revision. */
export type TransportKind = "stdio" | "in-process" | "streamable-http" | "http+sse";

/** What a wire needs to start, besides the server's definition. */
export interface WireContext {
  logger: Logger;
  /** Our environment. A server gets only the few variables it needs. */
  env: Readonly<Record<string, string | undefined>>;
  /** Where a server without a `cwd` runs, and what it must not find. */
  places: RunPlaces;
  /** Adds the token to an HTTP server's requests. */
  auth?: ServerAuth;
  /** The size limit for one message, for servers whose entry sets none. Default 64 MB. */
  maxMessageBytes?: number;
  /** Reads large messages. */
  large: LargeMessages;
}

/** The transports to try, in order. */
export function transportOrder(definition: ServerDefinition): readonly TransportKind[] {
  switch (definition.type) {
    case "stdio":
    case "in-process":
      return [definition.type];
    case "http":
      return ["streamable-http", "http+sse"];
    case "sse":
      return ["http+sse", "streamable-http"];
  }
}

/** Creates a wire without starting it. */
export function createWire(definition: ServerDefinition, kind: TransportKind, context: WireContext): Wire {
  if (definition.type === "stdio") return createStdio(definition, context);
  if (definition.type === "in-process") return new InProcessWire(definition);
  const options = {
    server: definition.name,
    url: parseUrl(definition),
    headers: definition.headers,
    auth: context.auth,
    env: context.env,
    maxMessageBytes: maxMessageBytesOf(definition, context),
    large: context.large,
  };
  return kind === "http+sse" ? new HttpSseWire(options) : new StreamableHttpWire(options);
}

function createStdio(definition: StdioServer, context: WireContext): StdioWire {
  const { logger, places } = context;
  return new StdioWire({
    command: definition.command,
    args: definition.args,
    cwd: definition.cwd ?? runFolder(definition.name, places),
    env: stdioEnvironment(definition, context),
    maxMessageBytes: maxMessageBytesOf(definition, context),
    large: context.large,
    onNoise: () => logger.debug("not a protocol message on stdout", { server: definition.name }),
  });
}

/** Builds the whole environment that a local server gets. */
export function stdioEnvironment(
  definition: StdioServer,
  { env, places }: Pick<WireContext, "env" | "places">,
): Record<string, string> {
  const environment = { ...serverEnvironment(definition.env, env), ...nestingVariable(definition, env) };
  return definition.trustsWorkspace ? environment : withoutForeignPrograms(environment, places.foreignFolders);
}

function maxMessageBytesOf(definition: ServerDefinition, context: WireContext): number {
  return definition.maxMessageBytes ?? context.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
}

function parseUrl({ name, url }: HttpServer): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new TrunklineError(
    "CONFIG_INVALID",
    `Server "${name}" has the url "${redactedUrl(url)}", which is not an http or https URL.`,
    {
      hint: "Is a variable in it unset?",
    },
  );
}
