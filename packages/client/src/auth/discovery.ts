// Which authorization server a server relies on. Looked up each time it matters: a server may have moved to another one.
import { discoverOAuthServerInfo, type FetchLike, type OAuthServerInfo } from "@modelcontextprotocol/client";

/** An authorization server and the name it goes by. */
export interface Discovered extends OAuthServerInfo {
  readonly issuer: string;
}

/** Finds the authorization server of a server. */
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
