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
 * The JavaScript of a TypeScript module, for browsers; its imports stay as they are, and comments go. Throws a
 * `SyntaxError` where the source is none.
 */
export type StripTypes = (source: string) => string;

export function createStripTypes(): StripTypes {
  // Bun 1.4 has no `stripTypeScriptTypes`, so it can't be imported by name.
  if ("Deno" in globalThis) return (source) => withoutComments(nodeModule.stripTypeScriptTypes(source));
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser", minifyWhitespace: true });
  return (source) => transpiler.transformSync(source);
}

/** Comments that have their lines to themselves, a fifth of what is sent. The lines stay, for who looks for errors. */
const COMMENT = /^[ \t]*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/[ \t]*)$/gm;

export function withoutComments(source: string): string {
  return source.replaceAll(COMMENT, (comment) => comment.replaceAll(/[^\n]+/g, ""));
}
