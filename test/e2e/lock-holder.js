// Takes the lock named in its argument, reports that, and never releases it: for tests that kill this process.
import { withFileLock } from "../../packages/client/dist/auth/file-lock.js";

setInterval(() => {}, 60_000);
await withFileLock(process.argv[2] ?? "", () => {
  console.log("held");
  return new Promise(() => {});
});
