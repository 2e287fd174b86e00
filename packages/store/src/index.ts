/**
 * The embedded content store. Its place in the workspace, its layer rules and its port (`ContentStore` in core) are
 * fixed; it has no public names yet.
 */
export {};
