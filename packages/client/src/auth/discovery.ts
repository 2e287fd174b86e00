// Finds the authorization server of a server. Looked up each time it matters, because a server can switch to another
// one.
import { discoverOAuthServerInfo, type FetchLike, type OAuthServerInfo } from "@modelcontextprotocol/client";

/** An authorization server and its issuer name. */
export interface Discovered extends OAuthServerInfo {
  readonly issuer: string;
}

export async function discover(
  serverUrl: URL,
  { fetchFn, resourceMetadataUrl }: { fetchFn: FetchLike; resourceMetadataUrl: URL | undefined },
): Promise<Discovered> {
  const found = await discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
  const issuer = found.authorizationServerMetadata?.issuer ?? String(found.authorizationServerUrl);
  return { ...found, issuer };
}
