// What a store holds, for completion: collections, snapshots and sessions. Only reads; a store that does not exist, or
// that the user has not approved, holds nothing.
import { isTrunklineError } from "@trunkline/core";
import type { AnyStore } from "@trunkline/store";
import { openApp } from "../../app/app.js";
import type { CommandContext } from "../../terminal/context.js";
import { quantity } from "../../terminal/trust-prompt.js";
import type { Candidate, Slot } from "./candidates.js";

export async function collectionWords(context: CommandContext, slot: Slot): Promise<Candidate[]> {
  const { collections } = (await inStore(context, slot, (store) => store.listCollections())) ?? { collections: [] };
  return collections.map(({ name, documents }) => ({ value: name, about: quantity(documents, "document") }));
}

/** Offers a snapshot by its label, or by its id if it has none. */
export async function snapshotWords(context: CommandContext, slot: Slot): Promise<Candidate[]> {
  const collection = slot.position.values.get("collection");
  const params = collection === undefined ? {} : { collection };
  const found = await inStore(context, slot, (store) => store.listSnapshots(params));
  return (found?.snapshots ?? []).map((snapshot) => ({
    value: snapshot.label ?? snapshot.id,
    about: `${snapshot.collection}, ${shownTime(snapshot.created)}, ${quantity(snapshot.documents, "document")}`,
  }));
}

export async function sessionWords(context: CommandContext, slot: Slot): Promise<Candidate[]> {
  const open = slot.position.command.name() === "stop";
  const found = await inStore(context, slot, (store) => store.listSessions(open ? { open } : {}));
  return (found?.sessions ?? []).map(({ sessionId, label, started, stopped }) => ({
    value: sessionId,
    about: `${label === null ? "" : `${label}, `}${stopped === null ? `open since ${shownTime(started)}` : `stopped ${shownTime(stopped)}`}`,
  }));
}

async function inStore<T>(
  context: CommandContext,
  { position }: Slot,
  read: (store: AnyStore) => Promise<T>,
): Promise<T | undefined> {
  // Headless: never asks whether to approve a store.
  await using app = openApp(context, {
    store: position.values.get("store"),
    config: "headless",
    reading: true,
    mustExist: true,
    embed: false,
  });
  try {
    return await read(await app.store());
  } catch (error) {
    if (isTrunklineError(error)) return undefined;
    throw error;
  }
}

function shownTime(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}
