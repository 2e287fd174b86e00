// How an operation of our own is written down, once: validator, `describe`, the reference page and the help of the command
// come from it. zod is loaded by the first call that needs it, so definitions only say what to make with it.
import { TrunklineError } from "@trunkline/core";
import type { z } from "zod";
import type {
  ContentBlock,
  Operation,
  OperationContext,
  OperationKind,
  OperationOutcome,
  Params,
} from "../interfaces/operation.js";
import type { ParamsReader } from "./read-params.js";

/** zod, as definitions are given it. */
export type Zod = typeof z;

/** The parts that all definitions may need, loaded together. */
interface Loaded {
  readonly zod: Zod;
  readonly createReader: (definition: ReaderSource, zod: Zod) => ParamsReader;
}

/** What a reader of parameters is made from. */
export interface ReaderSource {
  readonly name: string;
  readonly params: (z: Zod) => z.ZodObject;
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  readonly prepare?: ((params: Params) => Params) | undefined;
}

/** One operation of our own. */
export interface Definition<S extends z.ZodObject> {
  readonly name: string;
  readonly kind: OperationKind;
  /** One line: what a model reads first. */
  readonly summary: string;
  /** The parameters. Defaults are shown with `meta({ default })`; who does the work applies them. */
  readonly params: (z: Zod) => S;
  /** Other names for parameters, which are taken and not advertised. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /** A last touch before parameters are checked, when their names are right already. */
  readonly prepare?: ((params: Params) => Params) | undefined;
  readonly example: Params;
  readonly undoable?: boolean | undefined;
  run(params: z.output<S>, context: OperationContext): Promise<unknown>;
}

/** An outcome that is more than a value. */
export class RichOutcome implements OperationOutcome {
  readonly value: unknown;
  readonly blocks: readonly ContentBlock[] | undefined;
  readonly isError: boolean | undefined;

  constructor(outcome: OperationOutcome) {
    this.value = outcome.value;
    this.blocks = outcome.blocks;
    this.isError = outcome.isError;
  }
}

let loaded: Loaded | undefined;

/** Loads what `schema` and `validate` of defined operations need. */
export async function loadDefinitions(): Promise<void> {
  if (loaded !== undefined) return;
  const [{ z: zod }, { createReader }] = await Promise.all([import("zod"), import("./read-params.js")]);
  loaded = { zod, createReader };
}

/** Makes an operation. Its `schema` and `validate` work once {@link loadDefinitions} has resolved. */
export function define<S extends z.ZodObject>(definition: Definition<S>): Operation {
  let made: ParamsReader | undefined;
  const reader = (): ParamsReader => {
    if (loaded === undefined) throw new TrunklineError("INTERNAL", `${definition.name} was used before it was loaded.`);
    made ??= loaded.createReader(definition, loaded.zod);
    return made;
  };
  const { name, kind, summary, example, undoable } = definition;
  return {
    name,
    kind,
    summary,
    example,
    ...(undoable === undefined ? {} : { undoable }),
    get schema() {
      return reader().schema;
    },
    validate: (params) => reader().read(params),
    // `validate` has made the parameters what the definition says they are.
    run: async (params, context) => outcomeOf(await definition.run(params as z.output<S>, context)),
  };
}

function outcomeOf(result: unknown): OperationOutcome {
  return result instanceof RichOutcome ? result : { value: result };
}
