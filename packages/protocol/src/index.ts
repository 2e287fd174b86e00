/** The facts of MCP, written once: what each revision defines, message shapes, codes and names. */
export {};
