// Creates one of our own operations from its definition. The schema comes from the parameters; the validator is created
// on first use, because that loads zod.
import { type ParameterSet, type ParamsOf, schemaOf, TrunklineError } from "@trunkline/core";
import type { Operation, OperationContext, OperationKind, Params } from "../interfaces/operation.js";
import type { ParamsReader } from "./read-params.js";

interface Definition<P extends ParameterSet> {
  readonly name: string;
  readonly kind: OperationKind;
  /** One line that a model reads first. */
  readonly summary: string;
  readonly params: P;
  /** Adjusts parameters before they are checked, after their names have been normalized. */
  readonly prepare?: ((params: Params) => Params) | undefined;
  readonly example: Params;
  readonly undoable?: boolean | undefined;
  run(params: ParamsOf<P>, context: OperationContext): Promise<unknown>;
}

let createReader: typeof import("./read-params.js").createReader | undefined;

/** Loads what the `validate` of defined operations needs. */
export async function loadDefinitions(): Promise<void> {
  createReader ??= (await import("./read-params.js")).createReader;
}

/** Creates an operation. Its `validate` works once {@link loadDefinitions} has resolved. */
export function define<P extends ParameterSet>(definition: Definition<P>): Operation {
  const { name, kind, summary, params, example, undoable, prepare } = definition;
  const schema = schemaOf(params);
  let made: ParamsReader | undefined;
  const reader = (): ParamsReader => {
    if (createReader === undefined) throw new TrunklineError("INTERNAL", `${name} was used before it was loaded.`);
    made ??= createReader({ name, params, schema, prepare });
    return made;
  };
  return {
    name,
    kind,
    summary,
    schema,
    example,
    ...(undoable === undefined ? {} : { undoable }),
    narrows: (given) => {
      const found = reader().find(given);
      return found === undefined ? false : (params[found]?.narrows ?? false);
    },
    validate: (given) => reader().read(given),
    // `validate` has ensured that the parameters match the definition.
    run: async (given, context) => ({ value: await definition.run(given as ParamsOf<P>, context) }),
  };
}
