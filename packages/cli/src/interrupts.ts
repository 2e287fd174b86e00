// Ctrl-C by stages. Usually it ends the command; a command that has something smaller to end, a running call or a turn,
// takes it first.

/** Takes a Ctrl-C. Returns whether there was something to end; otherwise the next one is asked, and at last the program ends. */
export type OnInterrupt = () => boolean;

const takers: OnInterrupt[] = [];

/** Takes every Ctrl-C first, until it is disposed of. The latest is asked first. */
export function takeInterrupts(onInterrupt: OnInterrupt): Disposable {
  takers.push(onInterrupt);
  return {
    [Symbol.dispose]: () => {
      const at = takers.lastIndexOf(onInterrupt);
      if (at !== -1) takers.splice(at, 1);
    },
  };
}

/** Hands a Ctrl-C on. Returns whether somebody took it. */
export function interruptTaken(): boolean {
  return takers.findLast((onInterrupt) => onInterrupt()) !== undefined;
}
