// `args` of the module `trunkline`.

/** What stands behind the script on the command line. In a program of one's own: behind the program. */
export const args: readonly string[] = Object.freeze(process.argv.slice(2));
