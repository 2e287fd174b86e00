// The process that `startLookForUpdate` starts: looks for a newer version once, and ends.
import { lookForUpdate } from "./look-for-update.js";

const [, , home] = process.argv;
// There is no one to tell about a failure; the next look is tomorrow.
if (home !== undefined) void lookForUpdate({ home }).catch(() => {});
