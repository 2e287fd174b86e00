// One line after a command, at most once a day, if a newer version exists. The answer comes from a file; a process in
// the background keeps it up to date. Nothing here can delay a command or make it fail.

import { readUserSettings } from "@trunkline/config";
import { compareVersions } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { readKnownUpdate, writeKnownUpdate } from "./known-update.js";

const DAY_MS = 86_400_000;

/** Shows the notice if it is time. `look` looks for a newer version without being waited for. */
export async function showUpdateNotice(context: CommandContext, look: (home: string) => void): Promise<void> {
  const { home, version, clock } = context;
  const now = clock.now();
  // A time in the future is that of a clock that was wrong.
  const isDue = (last: number | undefined) => last === undefined || last > now || now - last >= DAY_MS;
  const known = await readKnownUpdate(home);
  const { latest } = known;
  const says = latest !== undefined && compareVersions(latest, version) > 0 && isDue(known.saidAt);
  const looks = isDue(known.lookedAt);
  if (!says && !looks) return;
  if ((await readUserSettings(home)).updateNotice === false) return;
  // Written first: whatever happens to the look, the next one is tomorrow.
  await writeKnownUpdate(home, { ...known, ...(says ? { saidAt: now } : {}), ...(looks ? { lookedAt: now } : {}) });
  if (looks) look(home);
  if (says)
    context.note(`Trunkline ${latest} is available; this is ${version}. Update: npm install -g trunkline@${latest}`);
}
