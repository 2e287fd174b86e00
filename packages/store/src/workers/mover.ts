// Movers do what takes long: adding, restoring, downloading, checking. Their connections cannot write; they hand changes
// to the writer.
import { add } from "../operations/add.js";
import { putContent } from "../operations/content.js";
import { download } from "../operations/download.js";
import type { MoveEnvironment } from "../operations/environment.js";
import { exportStore, importStore } from "../operations/exchange.js";
import { gc } from "../operations/gc.js";
import { repair } from "../operations/repair.js";
import { restore } from "../operations/restore.js";
import { takeChanges } from "../operations/take-changes.js";
import { verify } from "../operations/verify.js";
import { bind } from "./bind.js";

/** What a mover does. */
export type MoverHandlers = ReturnType<typeof moverHandlers>;

export function moverHandlers(env: MoveEnvironment) {
  return bind(env, {
    put: putContent,
    add,
    restore,
    download,
    gc,
    verify,
    repair,
    export: exportStore,
    import: importStore,
    takeChanges,
  });
}
