// A tool as an agent sees it: its definition, its source in a hub, its approval, and how its calls are cancelled.
import {
  abortable,
  isRecord,
  matchesGlob,
  type SourcedTool,
  type ToolProgress,
  type ToolSource,
  TrunklineError,
} from "@trunkline/core";

/** A tool's result as the model gets it. */
export interface ToolOutput {
  readonly text: string;
  readonly images?: readonly { readonly data: string; readonly mediaType: string }[];
  readonly isError?: boolean;
}

export interface Tool {
  /** The wire name the model sees. */
  readonly name: string;
  /** The display name: `server.tool`. */
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Tools that are not read-only need approval. */
  readonly readOnly: boolean;
  /**
   * Returns the arguments in the one form that the approver sees and `call` gets. Rejects if they are ambiguous; the
   * model gets the message. Default: the arguments as the model wrote them.
   */
  canonical?(
    args: Readonly<Record<string, unknown>>,
    options: { signal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>>;
  call(
    args: Readonly<Record<string, unknown>>,
    options: { signal?: AbortSignal; onProgress?: (progress: ToolProgress) => void },
  ): Promise<ToolOutput>;
}

/**
 * Finds the tool that a model means. Models also write the names they know from elsewhere: `docs.lookup`,
 * `mcp__docs__lookup`, `docs-lookup`, `functions.docs_lookup`. A spelling that fits several tools finds none.
 */
export function toolNamed<T extends Pick<Tool, "name" | "title">>(tools: readonly T[], name: string): T | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact !== undefined) return exact;
  for (const spelling of [(text: string) => text, joined, loose]) {
    const wanted = spelling(name);
    const [found, ...more] = tools.filter((tool) => spelling(tool.title) === wanted || spelling(tool.name) === wanted);
    if (found !== undefined) return more.length === 0 ? found : undefined;
  }
  return undefined;
}

/** Every separator between server and tool becomes the one of wire names. */
function joined(name: string): string {
  return name
    .replace(/^functions\./, "")
    .replace(/^mcp(?:__|:\/\/)/, "")
    .replace(/[^A-Za-z0-9-]+/g, "_");
}

function loose(name: string): string {
  return joined(name).replaceAll("-", "_").toLowerCase();
}

/** Whether a tool that changes things can run now. The model gets the `reason`. */
export type Approval = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export type Approver = (
  call: { readonly tool: Tool; readonly args: Readonly<Record<string, unknown>> },
  options: { signal?: AbortSignal },
) => Promise<Approval>;

export interface ToolsFromOptions {
  /** A tool's wire name: unique, `^[A-Za-z0-9_-]{1,64}$`. The command line passes the hub's name table. */
  names: (tool: SourcedTool) => string;
  /** The display name. Default `server.tool`. */
  titles?: ((tool: SourcedTool) => string) | undefined;
  /** Which tools to include. Default: all. */
  include?: ((tool: SourcedTool) => boolean) | undefined;
  /** Whether a tool is read-only. Default: its `readOnlyHint` annotation, which is the server's own claim. */
  readOnly?: ((tool: SourcedTool) => boolean) | undefined;
  /** Renders a result as text and images. Default: its text blocks and images, everything else as JSON. */
  render?:
    | ((raw: Readonly<Record<string, unknown>>, tool: SourcedTool) => ToolOutput | Promise<ToolOutput>)
    | undefined;
  /** Maximum time a call can go without progress. */
  timeoutMs?: number | undefined;
}

/** Returns the tools the source currently has. Each call goes to the source; nothing is cached. */
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
            signal,
            onProgress,
            timeoutMs: options.timeoutMs,
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

/** Renders a result as text and images, as the default for `render`. */
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

/** Refuses everything; the model gets the reason. */
export function refuseAll(reason: string): Approver {
  return async () => ({ allowed: false, reason });
}

/** Whether one of the globs matches the tool's name or title. */
export function isAllowed(tool: Pick<Tool, "name" | "title">, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(glob, tool.title) || matchesGlob(glob, tool.name));
}

/** Allows tools that match one of the globs, by title (`files.*`) or wire name; `otherwise` decides on the rest. */
export function allowList(
  globs: readonly string[],
  otherwise: Approver = refuseAll("It is not on the allow list."),
): Approver {
  return async (call, options) => (isAllowed(call.tool, globs) ? { allowed: true } : await otherwise(call, options));
}

/** Wraps an approver so that it handles one call at a time: a terminal has one prompt. */
export function oneAtATime(approve: Approver): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return (call, options) => {
    const mine = last.then(async () => {
      options.signal?.throwIfAborted();
      return await approve(call, options);
    });
    // The next call waits for this one, even if it fails; the caller gets the error.
    last = mine.catch(() => {});
    return mine;
  };
}

/** Tools whose running calls can be cancelled while the run continues. */
export interface CancellableTools {
  readonly tools: readonly Tool[];
  /** Wraps a tool that was added later. */
  wrap(tool: Tool): Tool;
  /** Cancels all running calls and tells the model. Returns how many there were. */
  cancelRunning(): number;
}

/** Wraps tools so that running calls can be cancelled. */
export function cancellableTools(tools: readonly Tool[]): CancellableTools {
  const running = new Set<AbortController>();
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    async call(args, options) {
      const own = new AbortController();
      running.add(own);
      const signal = options.signal === undefined ? own.signal : AbortSignal.any([options.signal, own.signal]);
      try {
        return await abortable(own.signal, tool.call(args, { ...options, signal }));
      } catch (error) {
        // Report our reason, no matter which error the tool threw.
        throw own.signal.aborted ? own.signal.reason : error;
      } finally {
        running.delete(own);
      }
    },
  });
  return {
    tools: tools.map(wrap),
    wrap,
    cancelRunning() {
      const count = running.size;
      for (const call of running) call.abort(new TrunklineError("ABORTED", "The call was cancelled."));
      return count;
    },
  };
}
