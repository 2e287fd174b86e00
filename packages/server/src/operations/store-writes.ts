// The operations of the store that change something.
import { TrunklineError } from "@trunkline/core";
import type { Operation } from "../interfaces/operation.js";
import { define } from "./define.js";
import { flag, metadata, session, text, texts } from "./parameters.js";
import type { StoreCalls } from "./store-calls.js";

const DOCUMENT = "The document: whole path, end of a path, base name, or a glob.";
const SESSION = "The session it belongs to: its id, or true for the current one.";

/** The operations that write, in the order they are listed. */
export function storeWrites(calls: StoreCalls): Operation[] {
  return [add(calls), update(calls), remove(calls), undelete(calls), snapshot(calls), restore(calls), download(calls)];
}

function add(calls: StoreCalls): Operation {
  return define({
    name: "add",
    kind: "write",
    undoable: true,
    summary: "Add a file, a folder or inline content.",
    params: (z) =>
      z.object({
        path: text(z, "A file or folder, relative to the workspace."),
        paths: texts(z, "Several files or folders."),
        content: text(z, "Text to store under a name."),
        name: text(z, "The name of inline content."),
        recursive: z.boolean().optional().meta({ default: true, description: "Subfolders too." }),
        include: texts(z, "Only files that match one of these globs."),
        exclude: texts(z, "No files that match one of these globs."),
        collection: z.string().optional().meta({ default: "default", description: "Where to put it." }),
        tags: texts(z, "Tags to give."),
        metadata: metadata(z, 'An object, or ["key=value"].'),
        snapshot_label: text(z, "Label of the snapshot that a folder makes."),
        session: session(z, SESSION),
      }),
    aliases: {
      file: "path",
      folder: "path",
      directory: "path",
      file_path: "path",
      files: "paths",
      text: "content",
      body: "content",
      data: "content",
      filename: "name",
      title: "name",
      tag: "tags",
      label: "snapshot_label",
      session_id: "session",
    },
    // The value of an earlier step is kept as JSON.
    prepare: ({ content, ...params }) => {
      if (content === undefined) return params;
      return { ...params, content: typeof content === "string" ? content : JSON.stringify(content, null, 2) };
    },
    example: { path: "minutes.md", tags: ["minutes"], metadata: { team: "core" } },
    run: async ({ session: meant, ...params }, context) => {
      const { exchange } = context;
      const client = await calls.clientOf(meant, context);
      const { path, paths, ...rest } = inlineNamed(params);
      const resolve = (given: string, parameter: string) => calls.places.resolve(given, { exchange, parameter });
      const places = {
        ...(path === undefined ? {} : { path: await resolve(path, "path") }),
        ...(paths === undefined
          ? {}
          : { paths: await Promise.all(paths.map((each, at) => resolve(each, `paths[${at}]`))) }),
      };
      return await calls.run("add", { ...rest, ...places }, { context, client });
    },
  });
}

/** Content with a path beside it: the path is the content's name. */
function inlineNamed<P extends { content?: string | undefined; name?: string | undefined; path?: string | undefined }>(
  params: P,
): P {
  const { content, path, name } = params;
  if (content === undefined) return params;
  if (path !== undefined && name === undefined) return { ...params, name: path, path: undefined };
  if (name === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "add needs a name for content.", {
      hint: 'Give name, for example "notes/plan.md".',
      data: { parameter: "name" },
    });
  }
  return params;
}

function update(calls: StoreCalls): Operation {
  return define({
    name: "update",
    kind: "write",
    undoable: true,
    summary: "Change tags and metadata of documents.",
    params: (z) =>
      z.object({
        name: text(z, DOCUMENT),
        hash: text(z, "Documents with this content."),
        pattern: text(z, "Documents whose paths match this glob."),
        metadata: metadata(z, 'To set: an object, or ["key=value"].'),
        tags: texts(z, "Tags to add."),
        remove_tags: texts(z, "Tags to take away."),
        collection: text(z, "Only this collection."),
      }),
    aliases: { path: "name", file: "name", document: "name", glob: "pattern", add_tags: "tags", tag: "tags" },
    example: { name: "minutes.md", metadata: ["state=final"] },
    run: async (params, context) => await calls.run("update", params, { context }),
  });
}

function remove(calls: StoreCalls): Operation {
  return define({
    name: "delete",
    kind: "write",
    undoable: true,
    summary: "Move documents to the trash; undelete brings them back.",
    params: (z) =>
      z.object({
        name: text(z, DOCUMENT),
        names: texts(z, "Several names."),
        pattern: text(z, "Documents whose paths match this glob."),
        collection: text(z, "Only this collection."),
        dry_run: flag(z, "Only say what would be deleted."),
        session: session(z, SESSION),
      }),
    aliases: { path: "name", file: "name", document: "name", paths: "names", files: "names", glob: "pattern" },
    example: { name: "draft-*.md" },
    run: async ({ session: meant, ...params }, context) =>
      await calls.run("delete", params, { context, client: await calls.clientOf(meant, context) }),
  });
}

function undelete(calls: StoreCalls): Operation {
  return define({
    name: "undelete",
    kind: "write",
    undoable: true,
    summary: "Bring documents back from the trash.",
    params: (z) =>
      z.object({
        name: z.string().describe(DOCUMENT),
        collection: text(z, "Only this collection."),
      }),
    aliases: { path: "name", file: "name", document: "name", pattern: "name", glob: "name" },
    example: { name: "draft-1.md" },
    run: async (params, context) => await calls.run("undelete", params, { context }),
  });
}

function snapshot(calls: StoreCalls): Operation {
  return define({
    name: "snapshot",
    kind: "write",
    undoable: true,
    summary: "Keep a collection as it is now.",
    params: (z) =>
      z.object({
        collection: z.string().optional().meta({ default: "default", description: "The collection." }),
        label: text(z, "A name to find it by."),
      }),
    aliases: { name: "label", snapshot_label: "label" },
    example: { collection: "manual", label: "release-42" },
    run: async (params, context) => await calls.run("snapshot", params, { context }),
  });
}

function restore(calls: StoreCalls): Operation {
  return define({
    name: "restore",
    kind: "write",
    summary: "Write a collection or snapshot to a folder.",
    params: (z) =>
      z.object({
        collection: text(z, "The collection, as it is now."),
        snapshot_id: text(z, "The snapshot: id or label."),
        output_directory: z.string().describe("Where to write, relative to the workspace."),
        dry_run: flag(z, "Only say what would be written."),
        overwrite: flag(z, "Replace files that are different."),
        include_patterns: texts(z, "Only paths that match one of these globs."),
        exclude_patterns: texts(z, "No paths that match one of these globs."),
      }),
    aliases: {
      snapshot: "snapshot_id",
      id: "snapshot_id",
      label: "snapshot_id",
      output: "output_directory",
      output_path: "output_directory",
      directory: "output_directory",
      folder: "output_directory",
      path: "output_directory",
      to: "output_directory",
      destination: "output_directory",
      include: "include_patterns",
      exclude: "exclude_patterns",
    },
    example: { collection: "manual", output_directory: "out", dry_run: true },
    run: async ({ output_directory, ...params }, context) => {
      const { exchange } = context;
      const folder = await calls.places.resolve(output_directory, {
        exchange,
        parameter: "output_directory",
        writes: true,
      });
      return await calls.run("restore", { ...params, output_directory: folder }, { context });
    },
  });
}

function download(calls: StoreCalls): Operation {
  return define({
    name: "download",
    kind: "write",
    undoable: true,
    summary: "Fetch a URL into the store.",
    params: (z) =>
      z.object({
        url: z.string().describe("http or https."),
        checksum: text(z, 'What the content has to be: "sha256:…".'),
        max_bytes: z.int().min(1).optional().describe("Refuse more than this."),
        headers: z.record(z.string(), z.string()).optional().describe("Headers of the request."),
        timeout_ms: z.int().min(1).optional().describe("How long it may take."),
        resume: z.boolean().optional().meta({ default: true, description: "Go on with an interrupted download." }),
        collection: z.string().optional().meta({ default: "default", description: "Where to put it." }),
        tags: texts(z, "Tags to give."),
        metadata: metadata(z, 'An object, or ["key=value"].'),
        session: session(z, SESSION),
      }),
    aliases: { uri: "url", href: "url", link: "url", sha256: "checksum", hash: "checksum", tag: "tags" },
    example: { url: "https://files.example/report.pdf" },
    run: async ({ session: meant, ...params }, context) =>
      await calls.run("download", params, { context, client: await calls.clientOf(meant, context) }),
  });
}
