/* What VitePress makes the pages with. main.ts copies this file beside them, and sidebar.json with it. */

import sidebar from "./sidebar.json";

/** The anchor that a heading gets on GitHub too, so that one link leads there in both. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Vue would take double braces of sentences for its own; those of blocks of code it leaves. */
function keepBraces(markdown) {
  for (const kind of ["text", "code_inline"]) {
    const render = markdown.renderer.rules[kind];
    markdown.renderer.rules[kind] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
  }
}

/** A column without a title has no header for programs that read pages aloud. */
function leaveOutEmptyHeaders(markdown) {
  markdown.core.ruler.push("empty_headers", ({ tokens }) => {
    tokens.forEach(({ type }, index) => {
      if (type !== "th_open" || tokens[index + 1].content !== "") return;
      tokens[index].tag = "td";
      tokens[index + 2].tag = "td";
    });
  });
}

/** Enough contrast for the names of languages, and a search button that is called what it shows. */
const STYLE = `
:root { --vp-code-lang-color: var(--vp-c-text-2); }
.DocSearch-Button-Keys { display: none !important; }
`;

const base = process.env.WHEREHOUSE_SITE_BASE;

export default {
  title: "Wherehouse",
  description: "Where devices are, where they were, and who is near.",
  lang: "en",
  head: [
    ["style", {}, STYLE],
    ["link", { rel: "icon", href: `${base}icon.svg` }],
  ],
  base,
  outDir: process.env.WHEREHOUSE_SITE_OUT,
  markdown: {
    anchor: { slugify },
    config: (markdown) => {
      keepBraces(markdown);
      leaveOutEmptyHeaders(markdown);
    },
    languageAlias: { conf: "ini" },
    // Colors with enough contrast for everybody.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Start", link: "/docs/start" },
      { text: "All pages", link: "/docs/" },
      { text: "API", link: "/docs/api/" },
    ],
    sidebar,
    outline: [2, 3],
  },
};
