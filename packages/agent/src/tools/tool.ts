// A tool in the hands of an agent: what it is, how it comes from a hub, who lets it run, and how its calls are cancelled.
import {
  abortable,
  isRecord,
  matchesGlob,
  type SourcedTool,
  type ToolProgress,
  type ToolSource,
  TrunklineError,
} from "@trunkline/core";

/** What a tool came back with, as an agent gives it to its model. */
export interface ToolOutput {
  readonly text: string;
  readonly images?: readonly { readonly data: string; readonly mediaType: string }[] | undefined;
  readonly isError?: boolean | undefined;
}

/** One tool. */
export interface Tool {
  /** The wire name, as the model is told. */
  readonly name: string;
  /** The name for people: `server.tool`. */
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Whether it only reads. What does not needs approval. */
  readonly readOnly: boolean;
  call(
    args: Readonly<Record<string, unknown>>,
    options: { signal?: AbortSignal | undefined; onProgress?: ((progress: ToolProgress) => void) | undefined },
  ): Promise<ToolOutput>;
}

/** Whether a tool that changes things may run now. `reason` reaches the model. */
export type Approval = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** Decides on tools that change things. */
export type Approver = (
  call: { readonly tool: Tool; readonly args: Readonly<Record<string, unknown>> },
  options: { signal?: AbortSignal | undefined },
) => Promise<Approval>;

/** How a source's tools become an agent's. */
export interface ToolsFromOptions {
  /** The wire name of a tool: unique, `^[A-Za-z0-9_-]{1,64}$`. The command line passes the hub's table of names. */
  names: (tool: SourcedTool) => string;
  /** The name for people. Default `server.tool`. */
  titles?: ((tool: SourcedTool) => string) | undefined;
  /** Which tools. Default: all. */
  include?: ((tool: SourcedTool) => boolean) | undefined;
  /** Whether a tool only reads. Default: its annotation `readOnlyHint`, which is a server's own word. */
  readOnly?: ((tool: SourcedTool) => boolean) | undefined;
  /** A result as text and images. Default: its text blocks and images, everything else as JSON. */
  render?:
    | ((raw: Readonly<Record<string, unknown>>, tool: SourcedTool) => ToolOutput | Promise<ToolOutput>)
    | undefined;
  /** How long one call may take without progress. */
  timeoutMs?: number | undefined;
}

/** The tools that a source knows now. A call goes to the source when it is made; nothing is kept. */
export function toolsFrom(source: ToolSource, options: ToolsFromOptions): Tool[] {
  const { include = () => true, readOnly = hasReadOnlyHint, render = renderOutput } = options;
  return source
    .tools()
    .filter(include)
    .map((tool) => ({
      name: options.names(tool),
      title: options.titles?.(tool) ?? `${tool.server}.${tool.tool}`,
      description: tool.description ?? "",
      inputSchema: tool.inputSchema,
      readOnly: readOnly(tool),
      async call(args, { signal, onProgress }) {
        const result = await source.callTool(
          tool.server,
          tool.tool,
          { ...args },
          {
            ...(signal === undefined ? {} : { signal }),
            ...(onProgress === undefined ? {} : { onProgress }),
            ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
          },
        );
        const output = await render(result.raw, tool);
        return result.isError ? { ...output, isError: true } : output;
      },
    }));
}

function hasReadOnlyHint(tool: SourcedTool): boolean {
  return tool.annotations?.readOnlyHint === true;
}

/** A result as text and images, for want of a better rendering. */
export function renderOutput(raw: Readonly<Record<string, unknown>>): ToolOutput {
  const blocks = Array.isArray(raw.content) ? raw.content.filter(isRecord) : [];
  if (blocks.length === 0) {
    return { text: raw.structuredContent === undefined ? "" : JSON.stringify(raw.structuredContent) };
  }
  const images = blocks.flatMap(({ type, data, mimeType }) =>
    type === "image" && typeof data === "string" && typeof mimeType === "string" ? [{ data, mediaType: mimeType }] : [],
  );
  const lines = blocks.flatMap((block) => {
    if (block.type === "text" && typeof block.text === "string") return [block.text];
    return block.type === "image" ? [] : [JSON.stringify(block)];
  });
  return { text: lines.join("\n"), ...(images.length > 0 ? { images } : {}) };
}

/** Allows everything: `--yes`. */
export const approveAll: Approver = async () => ({ allowed: true });

/** Refuses everything, with a reason that the model is given: nobody is there to be asked. */
export function refuseAll(reason: string): Approver {
  return async () => ({ allowed: false, reason });
}

/** Whether a tool is on an allow list: one of the globs matches its name or its title. */
export function isAllowed(tool: Pick<Tool, "name" | "title">, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(glob, tool.title) || matchesGlob(glob, tool.name));
}

/** Allows the tools that one of the globs matches, by title (`files.*`) or wire name, and asks `otherwise` about the rest. */
export function allowList(
  globs: readonly string[],
  otherwise: Approver = refuseAll("It is not on the allow list."),
): Approver {
  return async (call, options) => (isAllowed(call.tool, globs) ? { allowed: true } : await otherwise(call, options));
}

/** The same approver, asked about one call at a time: a terminal has one prompt. */
export function oneAtATime(approve: Approver): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return (call, options) => {
    const mine = last.then(async () => {
      options.signal?.throwIfAborted();
      return await approve(call, options);
    });
    // The next one waits for this one's end, whatever that is; the caller sees how it ended.
    last = mine.catch(() => {});
    return mine;
  };
}

/** Tools whose running calls can be cancelled while the run goes on. */
export interface CancellableTools {
  readonly tools: readonly Tool[];
  /** Cancels every call that is running; the model is told. Returns how many there were. */
  cancelRunning(): number;
}

/** The same tools, in a form that lets a person cancel what is running. */
export function cancellableTools(tools: readonly Tool[]): CancellableTools {
  const running = new Set<AbortController>();
  return {
    tools: tools.map((tool) => ({
      ...tool,
      async call(args, options) {
        const own = new AbortController();
        running.add(own);
        const signal = options.signal === undefined ? own.signal : AbortSignal.any([options.signal, own.signal]);
        try {
          return await abortable(own.signal, tool.call(args, { ...options, signal }));
        } catch (error) {
          // Whatever a tool makes of its signal: the reason is known here.
          throw own.signal.aborted ? own.signal.reason : error;
        } finally {
          running.delete(own);
        }
      },
    })),
    cancelRunning() {
      const count = running.size;
      for (const call of running) call.abort(new TrunklineError("ABORTED", "The call was cancelled."));
      return count;
    },
  };
}
