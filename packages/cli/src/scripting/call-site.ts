// An error from a message or a timer has no trace of the line that waited for it; this adds that line.

/**
 * Runs `work`. If it rejects, the caller's lines are added to the end of the error's stack, leaving out `above` and
 * everything it calls.
 */
export async function atCallSite<T>(above: (...args: never[]) => unknown, work: () => Promise<T>): Promise<T> {
  const site: { stack?: string } = {};
  Error.captureStackTrace(site, above);
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) addFrames(error, site.stack ?? "");
    throw error;
  }
}

function addFrames(error: Error, stack: string): void {
  const known = error.stack ?? String(error);
  const frames = framesOf(stack).filter((frame) => !known.includes(placeOf(frame)));
  if (frames.length > 0) error.stack = [known, ...frames].join("\n");
}

function framesOf(stack: string): string[] {
  return stack.split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("node:internal"));
}

/** Returns the part of a frame with file, line and column. */
function placeOf(frame: string): string {
  return /\(?([^\s(]+:\d+:\d+)\)?$/.exec(frame)?.[1] ?? frame;
}
