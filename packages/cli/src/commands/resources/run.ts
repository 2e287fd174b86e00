import {
  type Hub,
  type ReadResourceResult,
  type ResourceUpdate,
  renderBlocks,
  type SourcedResource,
  type SourcedTemplate,
} from "@trunkline/client";
import { messageOf, printable, printableJson } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { reportUnlisted } from "../../app/unlisted.js";
import { whileConnecting } from "../../app/while-connecting.js";
import type { CommandContext } from "../../terminal/context.js";
import { table } from "../../terminal/table.js";

export interface ResourcesOptions {
  server: string | undefined;
  json?: boolean;
  templates?: boolean;
  mcp: string | undefined;
}

export interface ReadOptions {
  server: string;
  uri: string;
  json?: boolean;
  watch?: boolean;
  mcp: string | undefined;
}

/** Lists the resources of all servers or of one, or their templates instead. */
export async function listResources(context: CommandContext, options: ResourcesOptions): Promise<number> {
  const { server, templates = false } = options;
  const { signal } = context;
  await using app = openApp(context, {
    mcp: options.mcp,
    wanted: server === undefined ? undefined : (name) => name === server,
  });
  const hub = await app.hub();
  const where = { signal, server };
  const found = await whileConnecting<readonly (SourcedResource | SourcedTemplate)[]>(context, hub, {
    isWanted: (name) => server === undefined || name === server,
    work: () => (templates ? hub.resourceTemplates(where) : hub.resources(where)),
  });
  const exitCode = reportUnlisted(context, hub, { server, isEmpty: found.length === 0 });
  if (options.json) {
    context.out(
      printableJson(
        found.map(({ raw: _, ...item }) => item),
        2,
      ),
    );
    return exitCode;
  }
  if (found.length === 0) {
    const what = templates ? "templates" : "resources";
    if (exitCode === EXIT.success)
      context.note(server === undefined ? `No server has ${what}.` : `Server "${server}" has no ${what}.`);
    return exitCode;
  }
  const rows = found.map((item) => [
    printable(item.server),
    printable("uriTemplate" in item ? item.uriTemplate : item.uri),
    printable(item.title ?? item.name),
    [item.mimeType ?? [], "sizeBytes" in item ? `${item.sizeBytes} bytes` : []].flat().map(printable).join(", "),
  ]);
  for (const line of table(rows)) context.out(line);
  return exitCode;
}

/** Prints a resource: text as it is, binary as the path of the saved file. */
export async function readResource(context: CommandContext, options: ReadOptions): Promise<number> {
  const { server, uri } = options;
  const { signal } = context;
  await using app = openApp(context, { mcp: options.mcp, wanted: (name) => name === server });
  const hub = await app.hub();
  const isKnown = hub.serverNames().includes(server);
  await whileConnecting(context, hub, {
    isWanted: (name) => name === server,
    work: async () => (isKnown ? await hub.connect([server], signal) : undefined),
  });
  if (options.watch) return await watch(context, hub, options);
  const read = await hub.readResource(server, uri, { signal });
  app.clearProgress();
  context.out(await rendered(context, read, options.json ?? false));
  return EXIT.success;
}

/** Prints the resource now and after each change, until stopped. */
async function watch(context: CommandContext, hub: Hub, options: ReadOptions): Promise<number> {
  const { server, uri, json = false } = options;
  const { signal } = context;
  let printed: string | undefined;
  const show = async ({ restored }: Pick<ResourceUpdate, "restored">) => {
    const text = await rendered(context, await hub.readResource(server, uri, { signal }), json);
    // After a reconnect, we cannot know whether the resource changed, so compare the text.
    if (restored && text === printed) return;
    if (printed !== undefined) context.note("changed:");
    printed = text;
    context.out(text);
  };
  let showing = Promise.resolve();
  // Subscribe first, or a change in between would be lost.
  const stop = await hub.subscribe(
    server,
    uri,
    (update) => {
      showing = showing
        .then(() => show(update))
        .catch((error: unknown) => {
          if (!signal.aborted) context.note(`trunkline: ${messageOf(error)}`);
        });
    },
    { signal },
  );
  await show({ restored: false });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await stop();
  await showing;
  return EXIT.success;
}

async function rendered(context: CommandContext, read: ReadResourceResult, json: boolean): Promise<string> {
  if (json) return printableJson(read.raw, 2);
  const { home, logger, signal } = context;
  const content = read.contents.map((resource) => ({ type: "resource", resource }));
  const { blocks } = await renderBlocks({ content }, { home, logger, signal });
  return blocks.map((block) => (block.type === "text" ? block.text : printableJson(block))).join("\n");
}
