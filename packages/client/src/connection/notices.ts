// Waiting for what a server announces: that an elicitation is complete, that a task has moved on or how far it is.

/** Who waits for which announcement, by key. */
export class Notices {
  readonly #waiting = new Map<string, Set<(params: Readonly<Record<string, unknown>>) => void>>();

  /** Tells everybody who listens to this key. */
  tell(key: string, params: Readonly<Record<string, unknown>>): void {
    for (const listener of this.#waiting.get(key) ?? []) listener(params);
  }

  /** Listens until the disposable is disposed of. */
  listen(key: string, listener: (params: Readonly<Record<string, unknown>>) => void): Disposable {
    const listeners = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, listeners.add(listener));
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.#waiting.get(key) === listeners) this.#waiting.delete(key);
      },
    };
  }
}

/** The key under which a notification is announced; none where nobody in a call waits for it. */
export function noticeKeyOf(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  switch (method) {
    case "notifications/elicitation/complete":
      return typeof params.elicitationId === "string" ? elicitationKey(params.elicitationId) : undefined;
    // The first is 2025-11-25's, the second that of the extension.
    case "notifications/tasks/status":
    case "notifications/tasks":
      return typeof params.taskId === "string" ? taskKey(params.taskId) : undefined;
    case "notifications/progress":
      return progressKey(String(params.progressToken));
    default:
      return undefined;
  }
}

/** The key of an elicitation. */
export function elicitationKey(elicitationId: string): string {
  return `elicitation ${elicitationId}`;
}

/** The key of a task. */
export function taskKey(taskId: string): string {
  return `task ${taskId}`;
}

/** The key of a progress token. */
export function progressKey(token: string): string {
  return `progress ${token}`;
}
