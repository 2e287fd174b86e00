/** Every revision of the protocol that can be negotiated, oldest first. */
export const SUPPORTED_PROTOCOL_VERSIONS = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28",
] as const;

/** The newest revision. */
export const LATEST_PROTOCOL_VERSION = "2026-07-28";
