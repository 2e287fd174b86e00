// Opens the store of a run: in a folder, or in a database. In the broker, a store that is open already is shared.
import { createHash } from "node:crypto";
import type { LoadedConfig } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import type { AnyStore } from "@trunkline/store";
import type { CommandContext } from "../terminal/context.js";
import type { AppOptions } from "./app-options.js";
import { guardedPlaces, hasStore, isProjectStore, namedAddress, storeFolder } from "./folders.js";
import type { StoreApproval } from "./project-store.js";
import { addressFolder, withoutReference } from "./store-address.js";

interface StoreOpening {
  readonly options: AppOptions;
  readonly config: () => Promise<LoadedConfig>;
  /** Stops the opening. */
  readonly signal: AbortSignal;
  /** Throws if the run has ended meanwhile. */
  readonly requireOpen: () => void;
}

/** Opens the store in the folder that the run uses. */
export async function openFolder(context: CommandContext, opening: StoreOpening): Promise<AnyStore> {
  const { cwd, logger, shared } = context;
  const { options, signal, requireOpen } = opening;
  const { store: named, storeId, reading, mustExist } = options;
  const path = storeFolder(context, named);
  // A command that only reads and names a folder without a store is a typo.
  if ((mustExist || (reading && named !== undefined)) && !hasStore(path)) {
    throw new TrunklineError("NOT_FOUND", `There is no store in ${path}.`, {
      hint: "Name another one with --store, or create one: trunkline store add <path>",
    });
  }
  const approval = isProjectStore(context, named) ? await approveStore(context, path, options) : undefined;
  const { openStore } = await import("@trunkline/store");
  requireOpen();
  const id = storeId ?? approval?.id;
  const guarded = guardedPlaces(context, options.mcp);
  const open = () => openStore({ path, cwd, logger, signal, lazyWriter: reading, id, ...guarded });
  // A store that others use as well is not opened for this run alone, and not stopped by its Ctrl-C.
  const store =
    shared === undefined
      ? await open()
      : (await shared.store({ folder: path, id }, () => openStore({ path, cwd, lazyWriter: true, id }))).from(
          cwd,
          guarded,
        );
  await approval?.onOpened?.(store.id);
  return store;
}

/** Opens the store in the database with this address. */
export async function openAddress(
  context: CommandContext,
  address: string,
  { options: given, config: readConfig }: StoreOpening,
): Promise<AnyStore> {
  const { loginOf, openLogin } = await import("./team-store.js");
  const { storeId: id, config = "ask", checkWithinMs } = given;
  const isSetting = namedAddress(context, given.store) === undefined;
  const login = await loginOf(context, address, {
    mayRun: isSetting,
    foreignFolders: async () => (await readConfig()).foreignFolders ?? [],
  });
  const options = { id, mayAsk: config === "ask" && checkWithinMs === undefined };
  const guarded = guardedPlaces(context, given.mcp);
  const { shared } = context;
  if (shared === undefined) return await openLogin(context, login, { ...options, ...guarded });
  // Who knows another password, or none, does not get the store that someone else has opened.
  const password = createHash("sha256")
    .update(login.password ?? "")
    .digest("hex");
  const { placeOf } = await import("@trunkline/store-postgres");
  const place = placeOf(withoutReference(address));
  const key = { folder: addressFolder(context.home, address), id, place, password };
  const store = await shared.store(key, () => openLogin(context, login, options));
  return store.from(context.cwd, guarded);
}

/** Throws unless the user created or approved a project's store. */
async function approveStore(
  context: CommandContext,
  path: string,
  { config = "ask" }: AppOptions,
): Promise<StoreApproval> {
  const { requireKnownStore } = await import("./project-store.js");
  return await requireKnownStore(context, path, { mayAsk: config === "ask" });
}
