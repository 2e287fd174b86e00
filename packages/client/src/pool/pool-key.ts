// When two servers are the same one: everything that decides what runs, what it can reach and how it is talked to.

import {
  connectionSettings,
  type HttpServer,
  type ServerDefinition,
  type Share,
  type StdioServer,
  secretEnvironment,
} from "@trunkline/config";
import { usesSignIn } from "../auth/server-auth.js";
import type { Root } from "../channel/channel.js";
import type { LeaseOptions } from "../connection/connection-options.js";
import { runFolderPath } from "../connection/run-folder.js";
import { stdioEnvironment } from "../connection/transports.js";

/** Whose server it is. */
interface KeyPlace {
  readonly share: Share;
  readonly workspace: string;
}

/** The variables that decide how an HTTP request reaches its server. */
const NETWORK_VARIABLES = [
  ...["NODE_USE_ENV_PROXY", "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"],
];

/** What has to be equal, by a name for people: `workspace`, `command`, `$PATH` … The values contain secrets. */
export type KeyParts = Readonly<Record<string, string>>;

/**
 * Returns what is the same for servers that can share one connection. Settings of a hub's own (filters, pins, `lazy`,
 * where the entry was read) are not part of it.
 */
export function keyParts(
  definition: ServerDefinition,
  options: LeaseOptions,
  { share, workspace }: KeyPlace,
): KeyParts {
  const { name, type, maxMessageBytes = options.maxMessageBytes } = definition;
  const isProject = definition.scope === "project";
  const { clientInfo, connectLimitMs, asking } = options;
  const { policy, abilities } = asking;
  return {
    name,
    workspace: share === "workspace" ? workspace : "",
    settings: canonical({
      ...connectionSettings(definition),
      ...{ type, share, maxMessageBytes, clientInfo, connectLimitMs },
      ...{ policy, abilities, isProject },
      // Named in the error if the server fails.
      unset: definition.unset,
    }),
    ...secretParts(definition, options),
    ...programParts(definition, options),
  };
}

/** Equal for equal parts. It contains secrets: only use its hash. */
export function partsKey(parts: KeyParts): string {
  return canonical(parts);
}

/** Returns the names of the parts in which two servers differ. */
export function differenceOf(one: KeyParts, other: KeyParts): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.filter((name) => one[name] !== other[name]).sort();
}

/** Equal for equal roots. */
export function rootsKey(roots: readonly Root[] | undefined): string {
  return canonical(roots ?? "none");
}

/** What runs, or is contacted. */
function programParts(definition: ServerDefinition, options: LeaseOptions): KeyParts {
  switch (definition.type) {
    case "stdio":
      return localParts(definition, options);
    case "in-process":
      return { program: String(numberOf(definition.start)) };
    default:
      return remoteParts(definition, options);
  }
}

function localParts(definition: StdioServer, options: LeaseOptions): KeyParts {
  const { command, args, cwd = runFolderPath(definition.name, options.places) } = definition;
  // A server has no terminal, so windows in different ones can share it, unless its entry names one.
  const variables = Object.entries(stdioEnvironment(definition, options)).filter(
    ([name]) => name !== "TERM" || definition.env.TERM !== undefined,
  );
  return { command: canonical([command, ...args]), folder: cwd, ...namedVariables(variables) };
}

function remoteParts(definition: HttpServer, { env, places, signingIn }: LeaseOptions): KeyParts {
  const { url, headers, auth } = definition;
  const { clientName, clientMetadataUrl, signInTimeoutMs, credentials } = signingIn;
  const signIn = usesSignIn(definition)
    ? { home: places.home ?? numberOf(credentials), clientName, clientMetadataUrl, signInTimeoutMs }
    : undefined;
  return {
    url,
    headers: canonical(headers ?? {}),
    "sign-in": canonical({ auth, signIn }),
    ...namedVariables(NETWORK_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  };
}

/** Which secrets a server gets, and where they are looked up. */
function secretParts({ secretReferences }: ServerDefinition, { env }: LeaseOptions): KeyParts {
  if (secretReferences === undefined) return {};
  return { secrets: canonical([secretReferences, secretEnvironment(env)]) };
}

/** A variable may be called `command`, so its part has a `$` in front. */
function namedVariables(variables: readonly (readonly [string, string])[]): KeyParts {
  return Object.fromEntries(variables.map(([name, value]) => [`$${name}`, value]));
}

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Numbers what has no name: the sign-ins of a hub without a home, and a server in this process. */
function numberOf(thing: object): number {
  const known = numbers.get(thing) ?? ++lastNumber;
  numbers.set(thing, known);
  return known;
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
