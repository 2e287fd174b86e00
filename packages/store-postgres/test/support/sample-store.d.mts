import type { PostgresStore } from "../../src/index.js";

export function fillSample(store: PostgresStore): Promise<void>;
export function sampleOf(store: PostgresStore): Promise<Record<string, unknown>>;
