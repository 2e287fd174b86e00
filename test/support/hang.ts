/**
 * Maximum wait for something that should always happen. It only catches hangs: shorter than the test timeout, so the
 * failure can name what is missing, but much longer than a busy machine needs.
 */
export const HANG_MS = 240_000;
