// The transport of the first revision, HTTP+SSE: one event stream for everything the server sends, and a POST for each
// of our messages. Completes the SDK's transport, which reports failures as text only and quietly opens a new stream in
// place of a lost one.
import {
  type AuthProvider,
  type FetchLike,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
} from "@modelcontextprotocol/client";

interface SseTransportOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchLike;
  readonly authProvider?: AuthProvider | undefined;
}

export class SseTransport extends SSEClientTransport {
  readonly #failed: { reason?: unknown };

  constructor(url: URL, { headers, fetch, authProvider }: SseTransportOptions) {
    const failed: { reason?: unknown } = {};
    /** Keeps the reason of a failure, because the event source passes on only its message. */
    const noting = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        failed.reason = error;
        throw error;
      }
    };
    super(url, {
      requestInit: { headers: { ...headers } },
      fetch: (to, init) => noting(withStatus(fetch, to, init)),
      ...(authProvider === undefined
        ? {}
        : {
            authProvider: {
              token: () => noting(authProvider.token()),
              onUnauthorized: async (context) => await authProvider.onUnauthorized?.(context),
            },
          }),
    });
    this.#failed = failed;
  }

  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (error) {
      // Without a status, the request itself failed, or its stream ended.
      if (!(error instanceof SseError) || error.code !== undefined) throw error;
      throw this.#failed.reason ?? new SseError(undefined, "the event stream ended before it began.", error.event);
    }
    const report = this.onerror;
    this.onerror = (error) => {
      report?.(error);
      // The session ends with its stream: answers to open requests cannot arrive on another one.
      if (error instanceof SseError) void this.close();
    };
  }
}

/** Rejects a POST that the server refuses with its status. A 401 is up to the transport. */
async function withStatus(fetch: FetchLike, url: string | URL, init: RequestInit | undefined): Promise<Response> {
  const response = await fetch(url, init);
  const { status, statusText } = response;
  if (init?.method !== "POST" || status < 400 || status === 401) return response;
  const text = await response.text();
  throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, {
    status,
    statusText,
    text,
  });
}
