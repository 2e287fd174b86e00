// The tools of the other servers, as far as a new tool of one server can be mistaken for one of them.
import { dottedName, NAME_STYLES, plainName, type ToolKey } from "@trunkline/config";
import { skeletonOf } from "./plain-letters.js";

/** A tool of another server. */
export interface KnownTool extends ToolKey {
  /** Its server used to list it and no longer does. */
  readonly gone?: boolean;
}

interface Index {
  readonly rendered: Map<string, KnownTool>;
  readonly byName: Map<string, KnownTool[]>;
  readonly skeletons: Map<string, KnownTool>;
}

/** Indexed on first use: most lists bring no new tool. */
export class Neighbours {
  readonly #server: string;
  readonly #others: () => readonly KnownTool[];
  readonly #plainNames: boolean;
  #index: Index | undefined;

  /** `plainNames`: a surface offers tools under their own names, without the server's. */
  constructor(server: string, others: () => readonly KnownTool[], { plainNames = false } = {}) {
    this.#server = server;
    this.#others = others;
    this.#plainNames = plainNames;
  }

  /** The tool of another server whose name is written the same in some style. */
  sameRenderedName(tool: string): string | undefined {
    const { rendered } = this.#indexed();
    for (const name of this.#renderedNames({ server: this.#server, tool })) {
      const other = rendered.get(name);
      if (other !== undefined) return dottedName(other);
    }
    return undefined;
  }

  /** The tool of another server that a reader would take this one for: `reаd_file` with a Cyrillic letter. */
  lookalike(tool: string): string | undefined {
    const other = this.#indexed().skeletons.get(skeletonOf(tool));
    return other === undefined || other.tool === tool || /^[\x20-\x7e]*$/.test(tool) ? undefined : dottedName(other);
  }

  /** The server that used to have this tool, if no other server still lists it. */
  movedFrom(tool: string): string | undefined {
    const same = this.#indexed().byName.get(tool) ?? [];
    return same.every(({ gone }) => gone === true) ? same[0]?.server : undefined;
  }

  #renderedNames(key: ToolKey): string[] {
    const names = NAME_STYLES.map((style) => `${style} ${plainName(style, key)}`);
    return this.#plainNames ? [...names, `plain ${key.tool}`] : names;
  }

  #indexed(): Index {
    if (this.#index !== undefined) return this.#index;
    const index: Index = { rendered: new Map(), byName: new Map(), skeletons: new Map() };
    for (const other of this.#others()) {
      if (other.gone !== true) for (const name of this.#renderedNames(other)) index.rendered.set(name, other);
      const same = index.byName.get(other.tool);
      if (same === undefined) index.byName.set(other.tool, [other]);
      else same.push(other);
      index.skeletons.set(skeletonOf(other.tool), other);
    }
    this.#index = index;
    return index;
  }
}
