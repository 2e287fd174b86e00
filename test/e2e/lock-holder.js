// Takes the lock named by its argument, says so, and never releases it: for tests that kill it.
import { withFileLock } from "../../packages/client/dist/auth/file-lock.js";

setInterval(() => {}, 60_000);
await withFileLock(process.argv[2] ?? "", () => {
  console.log("held");
  return new Promise(() => {});
});
