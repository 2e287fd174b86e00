// How a request ends that a broker took with it.

/** The call was running when the broker ended, and must not run twice. */
export const MAY_HAVE_RUN =
  "The broker ended while this call was running, so the call may or may not have taken effect. Check before you call again.";

interface Lost {
  readonly message: string;
  /** Then a program must not simply try again. */
  readonly mayHaveRun: boolean;
}

/** Returns the answer to such a request, as a line without its end. */
export function lostRequest(id: unknown, { message, mayHaveRun }: Lost): string {
  const error = { code: -32603, message, data: { code: "SERVER_EXITED", retryable: !mayHaveRun } };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
