// Opens a store and runs the calls that its parent sends, one after the other, until the parent disconnects.
import { isTrunklineError } from "@trunkline/core";
import { openStore, type Store } from "../../src/index.js";

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

const [path = "", cwd = "", opening = ""] = process.argv.slice(2);
const store = await openStore({ path, cwd, lazyWriter: opening === "lazy" });
process.on("message", ({ id, method, params }: Request) => {
  // The parent names a method of the store.
  const run = store[method as keyof Store] as (params: unknown) => Promise<unknown>;
  run.call(store, params).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => {
      const code = isTrunklineError(error) ? error.code : undefined;
      process.send?.({ id, error: { code, message: String(error) } });
    },
  );
});
process.on("disconnect", () => void store.close());
process.send?.({ id: 0 });
