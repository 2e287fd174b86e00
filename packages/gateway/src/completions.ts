// completion/complete: completes our own templates and prompts from the store, and forwards those of upstream servers.
import { isRecord, isTrunklineError } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Exchange } from "./interfaces/exchange.js";
import type { Prompts } from "./prompts/prompts.js";
import { MAX_COMPLETIONS, type ResourceReader } from "./resources/own-resources.js";
import type { Resources } from "./resources/resources.js";
import { asRpcError, faithful, type Upstreams, withMeta } from "./upstreams/upstreams.js";

type Raw = Readonly<Record<string, unknown>>;

interface CompletionSources {
  readonly prompts: Prompts;
  readonly resources: Resources;
  readonly upstreams: Upstreams;
}

export async function complete(params: Raw, exchange: Exchange, sources: CompletionSources): Promise<Raw> {
  const { ref, argument } = params;
  if (!isRecord(ref) || !isRecord(argument) || typeof argument.name !== "string" || typeof argument.value !== "string")
    throw new RpcError(RPC_CODES.invalidParams, "completion/complete needs a ref and an argument.");
  const { name, value } = argument;
  if (ref.type === "ref/prompt" && typeof ref.name === "string") {
    const own = await sources.prompts.own(ref.name);
    if (own !== undefined) {
      const parameter = own.parameters.find((one) => one.name === name);
      return await ownValues(parameter?.values, { value, exchange, sources });
    }
    const route = await sources.prompts.route(ref.name, exchange.signal);
    const request = { ...params, ref: { ...ref, name: route.name } };
    return await passOn(route.server, { request, exchange, upstreams: sources.upstreams });
  }
  if (ref.type === "ref/resource" && typeof ref.uri === "string") {
    const { own, routes } = sources.resources;
    if (own.has(ref.uri)) {
      const values = await own.complete(ref.uri, value, readerOf(exchange)).catch((error: unknown) => {
        throw asRpcError(error, RPC_CODES.internalError);
      });
      return completion(values ?? []);
    }
    const server =
      (await routes.templateServer(ref.uri, exchange.signal)) ?? (await routes.server(ref.uri, exchange.signal));
    if (server === undefined) throw new RpcError(RPC_CODES.invalidParams, `Resource template not found: ${ref.uri}`);
    return await passOn(server, { request: params, exchange, upstreams: sources.upstreams });
  }
  throw new RpcError(RPC_CODES.invalidParams, "The ref of a completion has to be a prompt or a resource template.");
}

async function ownValues(
  kind: "document" | "collection" | "snapshot" | undefined,
  { value, exchange, sources }: { value: string; exchange: Exchange; sources: CompletionSources },
): Promise<Raw> {
  if (kind === undefined) return completion([]);
  try {
    return completion(await sources.resources.own.values(kind, value, readerOf(exchange)));
  } catch (error) {
    throw asRpcError(error, RPC_CODES.internalError);
  }
}

function completion(values: readonly string[]): Raw {
  return { completion: { values: values.slice(0, MAX_COMPLETIONS), hasMore: values.length >= MAX_COMPLETIONS } };
}

async function passOn(
  server: string,
  { request, exchange, upstreams }: { request: Raw; exchange: Exchange; upstreams: Upstreams },
): Promise<Raw> {
  const { _meta: _, ...params } = request;
  try {
    const hub = await upstreams.hub();
    const options = { signal: exchange.signal };
    return faithful(await hub.request(server, "completion/complete", withMeta(params, exchange), options));
  } catch (error) {
    // A server without completions has nothing to offer, which is a valid answer.
    if (isTrunklineError(error, "UPSTREAM") && error.data?.code === RPC_CODES.methodNotFound) return completion([]);
    throw asRpcError(error, RPC_CODES.internalError);
  }
}

function readerOf({ caller, signal }: Exchange): ResourceReader {
  return { principal: caller.principal, signal };
}
