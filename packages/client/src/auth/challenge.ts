// Reads the `WWW-Authenticate` header of a refused request.

/** What a server says about the token that it wants. */
interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  /** The error code, such as `insufficient_scope`. */
  readonly error?: string;
}

export function readChallenge(header: string | undefined): Challenge {
  if (header === undefined || !/^(?:bearer|dpop) +\S/i.test(header)) return {};
  const field = (name: string): string | undefined => {
    const match = new RegExp(String.raw`${name}=(?:"([^"]+)"|([^\s,]+))`).exec(header);
    return match?.[1] ?? match?.[2];
  };
  const url = field("resource_metadata");
  const scope = field("scope");
  const error = field("error");
  return {
    ...(url !== undefined && URL.canParse(url) ? { resourceMetadataUrl: new URL(url) } : {}),
    scope,
    error,
  };
}
