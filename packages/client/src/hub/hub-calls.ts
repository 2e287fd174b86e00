// Calling a tool: finding what a name stands for, and what is repeated when a server changes or ends meanwhile.
import {
  isTrunklineError,
  type Logger,
  type SourcedTool,
  type ToolCallResult,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { authenticateResult, authenticateTool, SIGN_IN_TOOL } from "../auth/sign-in-tool.js";
import { isConnectable } from "../connection/server-state.js";
import { mayBelongTo, type ToolKey, toolNamePrefix } from "../names/name-styles.js";
import type { ToolNames } from "../names/names-table.js";
import { type HubMember, isAllowed } from "./hub-member.js";
import type { HubMembers } from "./hub-members.js";
import type { HubCallOptions } from "./hub-options.js";

/** What a modern server answers where the headers of a request are not those that it wants. */
const HEADER_MISMATCH_CODE = -32_020;

/** What calls need of the hub. */
export interface CallPort {
  readonly members: HubMembers;
  readonly logger: Logger;
  names(): ToolNames<SourcedTool>;
  authenticate(server: string, signal: AbortSignal | undefined): Promise<"completed" | "cancelled">;
  redacted(error: TrunklineError): TrunklineError;
}

/** The calls of a hub. */
export class HubCalls {
  readonly #port: CallPort;

  constructor(port: CallPort) {
    this.#port = port;
  }

  /** Finds the tool that a name stands for, connecting the servers it may belong to. */
  async findTool(name: string, signal: AbortSignal | undefined): Promise<SourcedTool> {
    const signIn = () =>
      this.#port.members
        .sorted()
        .find(
          ({ name: server, connection }) =>
            connection.state === "needs-auth" &&
            (name === `${toolNamePrefix(server)}${SIGN_IN_TOOL}` || name === `${server}.${SIGN_IN_TOOL}`),
        );
    const asked = signIn();
    if (asked !== undefined) return authenticateTool(asked.name);
    const waiting = () =>
      this.#port.members
        .sorted()
        .filter(({ connection }) => connection.state !== "connected" && isConnectable(connection.state));
    const candidates = waiting().filter((member) => mayBelongTo(name, member.name));
    await Promise.all(candidates.map((member) => this.#port.members.tryConnect(member, signal)));
    try {
      return this.#port.names().resolve(name);
    } catch (error) {
      if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
      const found = signIn();
      if (found !== undefined) return authenticateTool(found.name);
      const owner = this.#port.members.sorted().find((member) => name.startsWith(`${member.name}.`));
      if (owner !== undefined && owner.connection.state !== "connected") {
        // It was tried a moment ago: what came of it is the answer.
        if (owner.connection.error !== undefined) throw this.#port.redacted(owner.connection.error);
        await this.#port.members.require(owner.name, signal);
      }
    }
    // Only to name the nearest: nothing is called that was not asked for.
    await Promise.all(waiting().map((member) => this.#port.members.tryConnect(member, signal)));
    return this.#port.names().resolve(name);
  }

  /** Calls a tool by its pair, connecting its server where need be. */
  async callTool(
    { server, tool }: ToolKey,
    args: Record<string, unknown>,
    options: HubCallOptions,
  ): Promise<ToolCallResult> {
    const member = this.#port.members.get(server);
    if (tool === SIGN_IN_TOOL && member.connection.state === "needs-auth") {
      return authenticateResult(
        server,
        await this.#port.authenticate(server, options.signal),
        () => member.tools.length,
      );
    }
    if (!isAllowed(tool, member.connection.definition.tools)) {
      throw new TrunklineError("TOOL_NOT_FOUND", `The configuration of "${server}" leaves out the tool "${tool}".`, {
        hint: 'See "tools" in its entry.',
      });
    }
    await this.#port.members.require(server, options.signal);
    this.#port.logger.debug("calling a tool", { server, tool });
    const { task, meta, ...sending } = options;
    const params = { name: tool, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
    const sendOnce = () =>
      member.request(
        {
          method: "tools/call",
          params,
          task: member.taskFor(tool, task),
          headers: member.headersFor(tool, args),
        },
        sending,
      );
    const send = () =>
      sendOnce().catch(async (error: unknown) => {
        // The tool has changed since it was listed, and with it the headers that it wants.
        if (!isTrunklineError(error, "UPSTREAM") || error.data?.code !== HEADER_MISMATCH_CODE) throw error;
        await member.refreshTools();
        return await sendOnce();
      });
    try {
      const raw = await send().catch(async (error: unknown) => {
        // The call may have taken effect before the server went: only what may safely happen twice is repeated.
        if (!isTrunklineError(error, "SERVER_EXITED") || !isRepeatable(member, tool)) throw error;
        this.#port.logger.info("server ended in mid-call, repeating an idempotent call", { server, tool });
        return await send();
      });
      return { isError: raw.isError === true, raw };
    } catch (error) {
      throw this.#port.redacted(toTrunklineError(error));
    }
  }
}

/** Whether the server declares that calling the tool twice does no more than calling it once. */
function isRepeatable(member: HubMember, tool: string): boolean {
  const annotations = member.knownTool(tool)?.annotations;
  return annotations?.idempotentHint === true || annotations?.readOnlyHint === true;
}
