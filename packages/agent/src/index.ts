/** Models, agent loops and scripts. It knows tools through the `ToolSource` port of core; it has no public names yet. */
export {};
