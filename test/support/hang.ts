/**
 * How long a test waits for something that is sure to come. Only guards against hangs, so a failure can say what was
 * missing: less than a test's timeout, and far longer than a busy machine takes.
 */
export const HANG_MS = 240_000;
