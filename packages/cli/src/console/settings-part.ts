// The page "Settings": shows the configuration and opens its files. Everything else is edited there.
import { TrunklineError } from "@trunkline/core";
import { hasDisplay, openFile } from "../terminal/open-address.js";
import type { ConsoleWorld, WatchingPart } from "./console-world.js";
import { approvalsOf, revokeApproval, settingsReport } from "./settings-report.js";
import { WorkspaceWatches } from "./workspace-watches.js";

export function openSettings(world: ConsoleWorld): WatchingPart<"settings" | "settings/open" | "settings/revoke"> {
  const watches = new WorkspaceWatches((workspace, change) => {
    if (change === "config") world.send({ kind: "changed", topics: ["settings"], workspace });
  });
  return {
    handlers: {
      settings: async ({ workspace }) => {
        const { app } = world.workspace(workspace);
        await app.refreshConfig();
        return await settingsReport(app);
      },
      "settings/open": async ({ workspace, path }, { signal }) => {
        const { app } = world.workspace(workspace);
        const { files } = await app.config();
        if (!files.some((file) => file.path === path && file.exists)) {
          throw new TrunklineError("NOT_FOUND", "This is not a file of the configuration.");
        }
        // Not the workspace's: each variable that is read there would tell its clients apart.
        const { env, userHome } = world.context;
        const { cwd } = app.context;
        return { opened: hasDisplay(env) && (await openFile(path, { env, cwd, userHome, signal })) };
      },
      "settings/revoke": async ({ workspace, id }) => {
        const { app } = world.workspace(workspace);
        const { home } = app.context;
        const approval = (await approvalsOf(home)).find((each) => each.id === id);
        if (approval === undefined || !(await revokeApproval(home, approval))) {
          throw new TrunklineError("NOT_FOUND", "There is no such approval any more. Nothing was revoked.");
        }
        // Its servers stop at once, in every workspace.
        await Promise.all(world.workspaces().map((each) => each.app.refreshConfig()));
        world.send({ kind: "changed", topics: ["settings", "servers", "tools", "questions"] });
        return {};
      },
    },
    watch: () => watches.watch(world.workspaces()),
    rest: () => watches.watch([]),
  };
}
