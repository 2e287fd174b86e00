// Creates one of our own operations from its definition. The schema and its validator come from the parameters.
import { type ParameterSet, type ParamsOf, schemaOf } from "@trunkline/core";
import type { Operation, OperationContext, OperationKind, Params } from "../interfaces/operation.js";
import { createReader } from "./read-params.js";

interface Definition<P extends ParameterSet> {
  readonly name: string;
  readonly kind: OperationKind;
  /** One line that a model reads first. */
  readonly summary: string;
  readonly params: P;
  /** Adjusts parameters before they are checked, after their names have been normalized. */
  readonly prepare?: (params: Params) => Params;
  readonly example: Params;
  readonly undoable?: boolean;
  run(params: ParamsOf<P>, context: OperationContext): Promise<unknown>;
}

/** Creates an operation. */
export function define<P extends ParameterSet>(definition: Definition<P>): Operation {
  const { name, kind, summary, params, example, undoable, prepare } = definition;
  const schema = schemaOf(params);
  const reader = createReader({ name, params, schema, prepare });
  return {
    name,
    kind,
    summary,
    schema,
    example,
    ...(undoable === undefined ? {} : { undoable }),
    narrows: (given) => {
      const found = reader.find(given);
      return found === undefined ? false : (params[found]?.narrows ?? false);
    },
    validate: (given) => reader.read(given),
    // `validate` has ensured that the parameters match the definition.
    run: async (given, context) => ({ value: await definition.run(given as ParamsOf<P>, context) }),
  };
}
