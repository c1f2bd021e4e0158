import nodeModule from "node:module";

/** The parts of Bun used here, declared so that Deno's type check can read this file too. */
declare const Bun: {
  Transpiler: new (options: {
    readonly loader: "ts";
    readonly target: "browser";
    readonly minifyWhitespace: boolean;
  }) => { transformSync(source: string): string };
};

/** Compiles TypeScript for browsers, keeping imports. Throws a `SyntaxError` if the source is invalid. */
export type StripTypes = (source: string) => string;

export function createStripTypes(): StripTypes {
  // Bun 1.4 has no `stripTypeScriptTypes`, so it can't be imported by name.
  if ("Deno" in globalThis) return (source) => withoutComments(nodeModule.stripTypeScriptTypes(source));
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser", minifyWhitespace: true });
  return (source) => transpiler.transformSync(source);
}

const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//y;
const BLANK = /\s+/y;
const STRING = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;
const WORD = /[\w$]+/y;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y;
const SIGN = /[\s\S]/y;
/** The rest of a template literal, up to its end or the next `${`. */
const TEMPLATE = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;

/** After these a slash divides. After a word that is not a value it begins a regular expression. */
const VALUE_END = /[\w$)\]"'`]$/;
const NO_VALUE = /^(?:return|typeof|case|of|in|do|else|void|yield|await|throw|new|delete|instanceof)$/;

/** Removes comments, but not what looks like one in a string, template or regular expression. Line numbers stay. */
export function withoutComments(source: string): string {
  const openBraces: number[] = []; // Open braces in each unfinished `${`, the innermost last.
  let text = "";
  let last = "";
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [token = ""] = pattern.exec(source) ?? [];
    at += token.length;
    return token;
  };
  while (at < source.length) {
    const passed = take(COMMENT).replaceAll(/[^\n]+/g, " ") + take(BLANK);
    text += passed;
    if (passed !== "") continue;
    const isValue = VALUE_END.test(last) && !NO_VALUE.test(last);
    last = take(STRING) || take(WORD) || (isValue ? "" : take(REGEX)) || take(SIGN);
    const depth = openBraces.length - 1;
    if (last === "`" || (last === "}" && openBraces[depth] === 0)) {
      if (last === "}") openBraces.pop();
      last += take(TEMPLATE);
      if (last.endsWith("${")) openBraces.push(0);
    } else if (last === "{" && depth >= 0) openBraces[depth]!++;
    else if (last === "}" && depth >= 0) openBraces[depth]!--;
    text += last;
  }
  return text;
}
