/** The effective configuration of a workspace. */
export interface SettingsReport {
  readonly workspaceFolder: string;
  readonly files: readonly SettingsFile[];
  readonly diagnostics: readonly {
    readonly severity: "error" | "warning" | "note";
    readonly message: string;
    readonly server?: string;
    readonly file: string;
    readonly line?: number;
  }[];
  /** Each effective setting, and the file that decides. */
  readonly values: readonly {
    readonly name: string;
    readonly value: string;
    /** A path in `files`, or `default`. */
    readonly from: string;
  }[];
  /** Which tools may run, one row per rule. */
  readonly policies: readonly {
    readonly pattern: string;
    readonly verdict: string;
    readonly file?: string;
  }[];
  readonly paths: {
    readonly allowed: readonly string[];
    readonly outside: string;
    readonly note?: string;
  };
  readonly approvals: readonly {
    readonly id: string;
    readonly kind: "files" | "workspace" | "store";
    readonly path: string;
    /** ISO 8601. */
    readonly since: string;
  }[];
  /** The clients' surface, as `doctor` shows it. */
  readonly surface?: string;
  readonly storeFolder: string;
}

interface SettingsFile {
  readonly path: string;
  readonly scope: string;
  readonly exists: boolean;
  /** Why it cannot be read. */
  readonly problem?: string;
  readonly isTrusted: boolean;
}
