// The environment of a workspace's first client, which remembers which variables were used. A further client shares the
// workspace only if it has the same values for those; its other variables do not matter.

/** An environment that remembers what was read from it. */
export class UsedEnvironment {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly #values: Readonly<NodeJS.ProcessEnv>;
  readonly #used = new Set<string>();

  /** `onUsed` is called with each variable when it is read for the first time. */
  constructor(values: Readonly<NodeJS.ProcessEnv>, onUsed: (name: string) => void) {
    this.#values = values;
    this.env = new Proxy<NodeJS.ProcessEnv>(
      { ...values },
      {
        get: (target, name) => {
          if (typeof name === "string" && !this.#used.has(name)) {
            this.#used.add(name);
            onUsed(name);
          }
          return typeof name === "string" ? target[name] : undefined;
        },
      },
    );
  }

  valueFor(name: string): string | undefined {
    return this.#values[name];
  }

  /** Whether another environment has the same values for everything that was used. */
  matches(other: Readonly<NodeJS.ProcessEnv>): boolean {
    return [...this.#used].every((name) => this.#values[name] === other[name]);
  }
}
