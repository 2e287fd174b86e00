// The actions of the tool `session`.

import type { Operation, OperationContext } from "../interfaces/operation.js";
import { define } from "./define.js";
import { session, text } from "./parameters.js";
import type { StoreCalls } from "./store-calls.js";

const SESSION = "The session: its id; default: the current one.";

/** The actions, in the order they are listed. */
export function sessionActions(calls: StoreCalls): Operation[] {
  return [start(calls), stop(calls), pin(calls, "pin"), pin(calls, "unpin"), watch(calls)];
}

function start(calls: StoreCalls): Operation {
  return define({
    name: "start",
    kind: "session",
    summary: "Begin a session: what is added from now on belongs to it.",
    params: (z) => z.object({ label: text(z, "A name for it.") }),
    aliases: { name: "label", title: "label", session: "label" },
    example: { label: "release-42" },
    run: async (params, context) => await calls.start(params, context),
  });
}

function stop(calls: StoreCalls): Operation {
  return define({
    name: "stop",
    kind: "session",
    summary: "End the session and its watching, with a summary.",
    params: (z) => z.object({ session: session(z, SESSION) }),
    aliases: { session_id: "session", id: "session" },
    example: {},
    run: async (params, context) => await calls.stop(params.session, context),
  });
}

function pin(calls: StoreCalls, name: "pin" | "unpin"): Operation {
  return define({
    name,
    kind: "session",
    summary:
      name === "pin" ? "Keep content from gc, and in front of search within the session." : "Take a pin away again.",
    params: (z) =>
      z.object({
        hash: text(z, "The content's hash, or its first digits."),
        path: text(z, "The document: whole path, end of a path or base name."),
        session: session(z, SESSION),
      }),
    aliases: { name: "path", file: "path", document: "path", id: "hash", session_id: "session" },
    example: { hash: "9f86d081" },
    run: async ({ session: meant, ...params }, context) =>
      await calls.run(name, params, { context, client: await calls.sessionClient(meant, context) }),
  });
}

function watch(calls: StoreCalls): Operation {
  return define({
    name: "watch",
    kind: "session",
    summary: "Take changed files up as they change, until the session stops.",
    params: (z) =>
      z.object({
        paths: z.array(z.string()).min(1).describe("Files or folders, relative to the workspace."),
        collection: z.string().optional().meta({ default: "default", description: "Where to put them." }),
        session: session(z, SESSION),
      }),
    aliases: { path: "paths", folder: "paths", directory: "paths", files: "paths", session_id: "session" },
    example: { paths: ["src"] },
    run: async ({ session: meant, paths, ...params }, context) => {
      const { exchange } = context;
      const client = await calls.sessionClient(meant, context);
      const resolved = await Promise.all(
        paths.map((path, at) => calls.places.resolve(path, { exchange, parameter: `paths[${at}]` })),
      );
      // It goes on after the answer: who asked is not told of it any more.
      const lasting: OperationContext = { ...context, onProgress: undefined };
      return await calls.run("watch", { ...params, paths: resolved }, { context: lasting, client });
    },
  });
}
