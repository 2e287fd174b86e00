// Everything an agent command needs: the model, the tools, the approver, the recording and the output.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type AgentRequest,
  type AgentResult,
  type CancellableTools,
  cancellableTools,
  createModel,
  findAgent,
  type Message,
  type Model,
  openReplay,
  openRunFile,
  type Replay,
  type RunSink,
  recordApprover,
  recordModel,
  recordTool,
  refuseAll,
  type Tool,
} from "@trunkline/agent";
import type { Hub } from "@trunkline/client";
import { isRecord, isTrunklineError, printableJson, Redactor, TrunklineError } from "@trunkline/core";
import { parseInputJson, readInputFile } from "../app/input-file.js";
import { type CommandContext, isAtTerminal } from "../terminal/context.js";
import { TerminalTurns } from "../terminal/terminal-turns.js";
import { type AgentOptions, refuseContradictions } from "./agent-options.js";
import { type ModelSettings, readModelSettings } from "./model-settings.js";
import { RunPrinter } from "./run-printer.js";
import type { AgentTools } from "./tools.js";

/** The options that differ between commands. */
export interface SessionOptions extends AgentOptions {
  readonly name: "ask" | "agent" | "chat";
  /** The kind of agent. */
  readonly agent: string;
  /** Whether the agent can start sub-agents. */
  readonly delegate?: boolean;
  /** Prints one line per call. */
  readonly folded?: boolean;
  /** Whether to show the model's thoughts even if thinking was not requested. */
  readonly thoughts?: boolean;
}

/** The parts of a request that differ per run. */
type RunRequest = Pick<AgentRequest, "messages" | "onMessage" | "frameKey" | "signal">;

/** The format of the answer; undefined for text. */
type AnswerFormat = AgentRequest["format"];

interface Parts {
  readonly settings: ModelSettings | undefined;
  readonly model: Model;
  /** Undefined if the model has no tools or uses those of a recorded run. */
  readonly servers: AgentTools | undefined;
  readonly terminal: TerminalTurns | undefined;
  readonly replay: Replay | undefined;
  readonly sink: RunSink | undefined;
  readonly format: AnswerFormat;
}

/** An open agent command. */
export class AgentSession implements AsyncDisposable {
  readonly printer: RunPrinter;
  readonly format: AnswerFormat;
  /** The terminal, for one question at a time; undefined if there is none. */
  readonly terminal: TerminalTurns | undefined;
  /** The prompt of a recorded run. */
  readonly recordedPrompt: readonly Message[];
  readonly #context: CommandContext;
  readonly #options: SessionOptions;
  readonly #parts: Parts;
  readonly #keys: Redactor;
  #model: Model;
  readonly #cancellable: CancellableTools = cancellableTools([]);
  readonly #wrapped = new Map<Tool, Tool>();

  private constructor(
    context: CommandContext,
    options: SessionOptions,
    { parts, keys }: { parts: Parts; keys: Redactor },
  ) {
    this.#context = context;
    this.#options = options;
    this.#parts = parts;
    this.#keys = keys;
    this.#model = parts.model;
    this.format = parts.format;
    this.terminal = parts.terminal;
    this.recordedPrompt = parts.replay?.prompt ?? [];
    this.printer = new RunPrinter(context, {
      stream: options.stream ?? false,
      thoughts: options.think ?? options.thoughts ?? false,
      folded: options.folded ?? false,
      keys,
      clearProgress: () => parts.servers?.channel?.clearProgress?.(),
    });
    if (parts.terminal !== undefined) parts.terminal.hold = () => this.printer.hold();
  }

  /** Opens everything. Rejects if an option cannot be satisfied. */
  static async open(context: CommandContext, options: SessionOptions): Promise<AgentSession> {
    refuseContradictions(options);
    const { cwd, redactor } = context;
    requireAgent(options.agent);
    const format = await readFormat(context, options.format);
    const replay = options.replay === undefined ? undefined : await replayOf(context, options.replay);
    const settings = replay === undefined ? await readModelSettings(context, options) : undefined;
    if (settings !== undefined) noteEndpoint(context, settings);
    const keys = new Redactor().add(settings?.options.apiKey ?? "");
    const plain = replay?.model ?? createModel(requireSettings(settings));
    const terminal = isAtTerminal(context) ? new TerminalTurns() : undefined;
    const wantsTools = replay === undefined && options.tools && (options.tool ?? options.surface) !== undefined;
    // A server can ask for the model later, after the command has switched models.
    const current: { session?: AgentSession } = {};
    const servers = wantsTools
      ? await (await import("./tools.js")).openAgentTools(context, {
          ...options,
          terminal,
          model: () => current.session?.model ?? plain,
          onUsage: (usage) => current.session?.printer.show({ type: "usage", usage, depth: 0 }),
        })
      : undefined;
    try {
      const sink =
        options.record === undefined ? undefined : await openRunFile(resolve(cwd, options.record), { redactor });
      const parts: Parts = { settings, model: plain, servers, terminal, replay, sink, format };
      current.session = new AgentSession(context, options, { parts, keys });
      return current.session;
    } catch (error) {
      await servers?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The tools that the model has now. */
  get tools(): readonly Tool[] {
    const { replay, servers } = this.#parts;
    return (replay?.tools ?? servers?.tools() ?? []).map((tool) => this.#wrap(tool));
  }

  /** The error of a server whose tools were wanted and that still needs a sign-in. */
  get neededSignIn(): TrunklineError | undefined {
    return this.#parts.servers?.neededSignIn();
  }

  /** The current model. */
  get model(): Model {
    return this.#model;
  }

  /** The hub, if servers are used. */
  async hub(): Promise<Hub | undefined> {
    return await this.#parts.servers?.hub();
  }

  /** Switches to another model of the same provider. */
  changeModel(model: string): void {
    const { settings } = this.#parts;
    if (settings === undefined)
      throw new TrunklineError(
        "USAGE",
        "A replayed run uses the recorded model. Remove --replay to choose another one.",
      );
    this.#model = createModel({ ...settings.options, model });
  }

  /** Cancels the running calls. Returns how many there were. */
  cancelRunning(): number {
    return this.#cancellable.cancelRunning();
  }

  /** Runs the agent. The first Ctrl-C cancels running calls; the signal's owner decides what the next one does. */
  async run(request: RunRequest): Promise<AgentResult> {
    const { maxTurns, maxTokens, maxTime, think, delegate, agent } = this.#options;
    const { sink, servers, replay, format } = this.#parts;
    const approve = replay?.approve ?? servers?.approve ?? refuseAll("There are no tools.");
    using _interrupts = this.#context.interrupts.take(() => this.#cancelOnInterrupt());
    try {
      return await findAgent(agent).run({
        ...request,
        model: sink === undefined ? this.#model : recordModel(this.#model, sink),
        tools: this.tools,
        moreTools: () => this.tools,
        approve: sink === undefined ? approve : recordApprover(approve, sink),
        limits: {
          maxTurns,
          maxTokens,
          ...(maxTime === undefined ? {} : { maxTimeMs: maxTime * 1000 }),
        },
        format,
        ...(think === true ? { think } : {}),
        ...(delegate === true ? { delegate } : {}),
        onEvent: (event) => this.printer.show(event),
        signal: request.signal ?? this.#context.signal,
      });
    } catch (error) {
      this.printer.break();
      throw error;
    }
  }

  /** Prints an answer: the text, or one JSON document. */
  printAnswer({ text, json }: Pick<AgentResult, "text" | "json">): void {
    if (this.format === undefined) {
      this.printer.end(text);
      return;
    }
    this.printer.clear();
    this.#context.out(printableJson(this.#keys.value(json), this.#options.pretty ? 2 : undefined));
  }

  /** Prints the usage if the user asked for it. */
  printUsage(): void {
    if (this.#options.usage) this.#context.note(this.printer.usageLine(this.#model));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using _servers = this.#parts.servers;
    await this.#parts.sink?.close();
  }

  #wrap(tool: Tool): Tool {
    const known = this.#wrapped.get(tool);
    if (known !== undefined) return known;
    const { sink } = this.#parts;
    const cancellable = this.#cancellable.wrap(tool);
    const wrapped = sink === undefined ? cancellable : recordTool(cancellable, sink);
    this.#wrapped.set(tool, wrapped);
    return wrapped;
  }

  #cancelOnInterrupt(): boolean {
    if (this.cancelRunning() === 0) return false;
    this.printer.clear();
    this.#context.note("The call was cancelled. Ctrl-C again stops the turn.");
    return true;
  }
}

function requireAgent(name: string): void {
  try {
    findAgent(name);
  } catch (error) {
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
    throw new TrunklineError("USAGE", error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
}

function requireSettings(settings: ModelSettings | undefined): ModelSettings["options"] {
  if (settings === undefined) throw new TrunklineError("INTERNAL", "Neither a model nor a recorded run is available.");
  return settings.options;
}

async function replayOf({ cwd, redactor }: CommandContext, path: string): Promise<Replay> {
  try {
    return await openReplay(resolve(cwd, path), { redactor });
  } catch (error) {
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
    throw new TrunklineError("USAGE", `Recorded run ${path} does not exist. Check the path given to --replay.`, {
      cause: error,
    });
  }
}

/** Tells the user about an endpoint set in a project's `.env`, because its author can redirect every prompt there. */
function noteEndpoint(context: CommandContext, { options, endpointFile }: ModelSettings): void {
  if (endpointFile === undefined || options.endpoint === undefined || !URL.canParse(options.endpoint)) return;
  const { hostname, host } = new URL(options.endpoint);
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return;
  context.note(`note: using the model at ${host}, as set in ${endpointFile}`);
}

/** Parses `--format`. Throws `USAGE` if it is invalid. */
async function readFormat(context: Pick<CommandContext, "cwd" | "signal">, format: string): Promise<AnswerFormat> {
  if (format === "text") return undefined;
  if (format === "json") return { type: "json" };
  if (/^\s*\{/.test(format)) return { type: "json", schema: await parseSchema(format, "--format") };
  if (!existsSync(resolve(context.cwd, format))) {
    throw new TrunklineError("USAGE", `Invalid --format "${format}": it is neither text nor json, nor a file.`, {
      hint: FORMAT_HINT,
    });
  }
  const text = await readInputFile(context, format, FORMAT_HINT);
  return { type: "json", schema: await parseSchema(text, format) };
}

const FORMAT_HINT =
  'Use --json, or --format with a JSON Schema such as \'{"type": "object"}\' or a file that contains one.';

async function parseSchema(text: string, place: string): Promise<Record<string, unknown>> {
  const schema = await parseInputJson(text, place);
  if (isRecord(schema)) return schema;
  throw new TrunklineError("USAGE", `${place} is not a JSON Schema: it must be an object.`, { hint: FORMAT_HINT });
}
