// `args` of the module `trunkline`.

/** The arguments after the script on the command line, or after your own program. */
export const args: readonly string[] = Object.freeze(process.argv.slice(2));
