// Movers do what takes long: adding, restoring, downloading, checking. Their connections cannot write; they hand changes
// to the writer.
import { add } from "../../documents/add.js";
import { putContent } from "../../documents/bare-content.js";
import { download } from "../../documents/download.js";
import { restore } from "../../documents/restore.js";
import { exportStore, importStore } from "../../maintenance/export-import.js";
import { gc } from "../../maintenance/gc.js";
import { repair } from "../../maintenance/repair.js";
import { verify } from "../../maintenance/verify.js";
import { takeChanges } from "../../sessions/take-changes.js";
import { bind } from "./bind.js";
import type { MoveEnvironment } from "./thread-context.js";

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
