/**
 * The embedded embedding model, behind the `Embedder` port of core. It is a package of its own because its native code is
 * large; it has no public names yet.
 */
export {};
