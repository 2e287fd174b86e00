/** The package `trunkline` is a command; the parts are libraries of their own: `@trunkline/client` and its neighbours. */
export { EXIT, exitCodeOf } from "./exit-codes.js";
