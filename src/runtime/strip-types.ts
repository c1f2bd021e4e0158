import nodeModule from "node:module";

/** What is used of Bun, declared here so that Deno's type check can read this file too. */
declare const Bun: {
  Transpiler: new (options: {
    readonly loader: "ts";
    readonly target: "browser";
    readonly minifyWhitespace: boolean;
  }) => { transformSync(source: string): string };
};

/**
 * The JavaScript of a TypeScript module, for browsers; its imports stay as they are. Bun takes comments away as well.
 * Deno leaves them: only a parser can tell them from lines of a template. Throws a `SyntaxError` if the source is none.
 */
export type StripTypes = (source: string) => string;

export function createStripTypes(): StripTypes {
  // Bun 1.4 has no `stripTypeScriptTypes`, so it can't be imported by name.
  if ("Deno" in globalThis) return (source) => nodeModule.stripTypeScriptTypes(source);
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser", minifyWhitespace: true });
  return (source) => transpiler.transformSync(source);
}
