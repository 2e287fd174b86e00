// The banner of `serve --http`: what is served, what it costs, and how to try it.
import { isRecord, printable } from "@trunkline/core";
import { countTokens } from "@trunkline/gateway/journal";
import { HEADERS, LATEST_PROTOCOL_VERSION, META } from "@trunkline/protocol";
import type { App } from "../../app/app.js";
import { quantity } from "../../terminal/trust-prompt.js";

/** How many names fit on a line. */
const SHOWN_NAMES = 8;

export interface Listening {
  /** For clients on other machines, if any. */
  readonly url: string;
  /** For this machine. */
  readonly localUrl: string;
  /** The name of this gateway, if it shares its store with others. */
  readonly gateway: string | undefined;
  /** Whether the store was named with --store, which other commands do not know. */
  readonly isStoreNamed: boolean;
  /** Whether each client may see other tools. */
  readonly isAuto: boolean;
  /**
   * The token as clients send it, and as a shell gets it; undefined if none is required. `place`: the file that has it,
   * if it is not shown.
   */
  readonly token: { readonly value: string; readonly inShell: string; readonly place?: string } | undefined;
}

export async function welcome(
  app: App,
  { url, localUrl, gateway, isStoreNamed, isAuto, token }: Listening,
): Promise<string> {
  const service = await app.service();
  const listed = await service.handle("tools/list", {}, await app.exchange("trunkline", { trusted: true }));
  const tools = Array.isArray(listed.tools) ? listed.tools.filter(isRecord) : [];
  const [tokens = 0] = await countTokens([JSON.stringify(tools)]);
  const { servers } = await app.config();
  const enabled = servers.filter(({ disabled, trusted }) => !disabled && trusted).map(({ name }) => printable(name));
  const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${token.value}` } };
  const clients = isAuto ? " of a new client; `trunkline stats` shows what each gets" : "";
  const entry = { mcpServers: { trunkline: { type: "http", url, ...headers } } };
  return `trunkline ${app.context.version} is listening at ${url}

  tools      ${shownNames(tools.map(({ name }) => printable(String(name))))}: ${quantity(tokens, "token")} for the model${clients}
  servers    ${enabled.length === 0 ? "none; add some with `trunkline servers add` or `trunkline import`" : shownNames(enabled)}
  store      ${printable(await app.storePlace())}${gateway === undefined ? "" : `, as gateway ${gateway}`}
  for agents ${JSON.stringify(entry)}${token?.place === undefined ? "" : `\n  <token>    in ${token.place}; \`serve --http --show-token\` prints it`}
  try it     ${tryLine(localUrl, token?.inShell)}

\`trunkline log --follow\`${isStoreNamed ? " with the same --store" : ""} shows its calls as they happen. Ctrl-C stops it.`;
}

function shownNames(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  return more > 0 ? `${names.slice(0, SHOWN_NAMES).join(", ")} and ${more} more` : names.join(", ");
}

/** Returns a sample request in the stateless revision: it needs no session, so it fits on one line. */
function tryLine(url: string, token: string | undefined): string {
  const meta = { [META.protocolVersion]: LATEST_PROTOCOL_VERSION, [META.clientCapabilities]: {} };
  const params = { name: "mcp.echo", arguments: { message: "hello" }, _meta: meta };
  const headers = [
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `${HEADERS.protocolVersion}: ${LATEST_PROTOCOL_VERSION}`,
    `${HEADERS.method}: tools/call`,
    `${HEADERS.name}: mcp.echo`,
  ].map((header) => `-H '${header}'`);
  if (token !== undefined) headers.push(`-H "authorization: Bearer ${token}"`);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return `curl -s ${url} ${headers.join(" ")} -d '${body}'`;
}
