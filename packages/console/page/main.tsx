import { render } from "preact";
import { Frame } from "./frame.js";
import { live } from "./kit/live.js";
import { beginSession, SignedOutError } from "./kit/session.js";
import { startTheme } from "./kit/theme.js";

startTheme();
const root = document.querySelector("#app");
const show = (workspace: string | undefined) => {
  if (root !== null) render(<Frame firstWorkspace={workspace} />, root);
};
beginSession().then(
  (workspace) => {
    live.start();
    show(workspace);
  },
  (error: unknown) => {
    if (!(error instanceof SignedOutError)) throw error;
    live.signOut();
    show(undefined);
  },
);
