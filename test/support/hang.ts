/**
 * How long a test waits for something that is sure to come. It only guards against hangs, so a failure can say what was
 * missing: less than the time limit of a test, and far more than a busy machine takes.
 */
export const HANG_MS = 240_000;
