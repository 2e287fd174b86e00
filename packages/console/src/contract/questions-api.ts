import type { DefinitionRow } from "./servers-api.js";
import type { Json } from "./tools-api.js";

interface AnyQuestion {
  readonly id: string;
  /** ISO 8601: since when it waits. */
  readonly since: string;
  /** The id and the label of the workspace. */
  readonly workspace: string;
  readonly folder: string;
}

/** Something that waits for a person. */
export type QuestionRow =
  /** A server asks for values, or Trunkline asks whether a call may run. */
  | (AnyQuestion & {
      readonly kind: "form";
      /** Whether Trunkline itself asks. Otherwise the server does, and its words are not to be trusted. */
      readonly isOwn: boolean;
      readonly server: string;
      readonly tool?: string;
      /** The program whose call caused it. */
      readonly client: string;
      readonly message: string;
      /** The form: an object schema with properties of simple types. */
      readonly schema: Json;
    })
  /** A server asks a person to visit a page. */
  | (AnyQuestion & {
      readonly kind: "visit";
      readonly isOwn: boolean;
      readonly server: string;
      readonly tool?: string;
      readonly client: string;
      readonly message: string;
      readonly url: string;
      readonly host: string;
    })
  /** A server needs a sign-in before it can be used. */
  | (AnyQuestion & { readonly kind: "sign-in"; readonly server: string; readonly message: string })
  /** A project would start programs or connect to servers. */
  | (AnyQuestion & {
      readonly kind: "trust";
      readonly message: string;
      /** Exactly what is approved: the files, and what each would run. */
      readonly files: readonly {
        readonly path: string;
        readonly wouldRun: readonly { name: string; what: string }[];
      }[];
      readonly hash: string;
    })
  /** A server has changed a definition in a way that needs approval. */
  | (AnyQuestion & { readonly kind: "held"; readonly definition: DefinitionRow });

/** `hash` repeats that of the question: what was shown is what is approved. */
export type QuestionAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, Json>>; readonly hash?: string }
  | { readonly action: "decline" | "cancel" };
