// Waits for server notifications: a completed elicitation, a task's status.

export class Notices {
  readonly #waiting = new Map<string, Set<(params: Readonly<Record<string, unknown>>) => void>>();

  /** Notifies the listeners of this key. */
  tell(key: string, params: Readonly<Record<string, unknown>>): void {
    for (const listener of this.#waiting.get(key) ?? []) listener(params);
  }

  /** Listens until disposed. */
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

/** Returns the key of a notification; undefined for a kind that no call waits for. */
export function noticeKeyOf(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  switch (method) {
    case "notifications/elicitation/complete":
      return typeof params.elicitationId === "string" ? elicitationKey(params.elicitationId) : undefined;
    // The first is from 2025-11-25, the second from the extension.
    case "notifications/tasks/status":
    case "notifications/tasks":
      return typeof params.taskId === "string" ? taskKey(params.taskId) : undefined;
    default:
      return undefined;
  }
}

export function elicitationKey(elicitationId: string): string {
  return `elicitation ${elicitationId}`;
}

export function taskKey(taskId: string): string {
  return `task ${taskId}`;
}
