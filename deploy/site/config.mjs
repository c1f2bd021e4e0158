/* The settings of VitePress. main.ts copies this file and anchor.ts to the pages, and writes sidebar.json there. */

import { anchorOf } from "./anchor.ts";
import sidebar from "./sidebar.json";

/** Vue would evaluate double braces in sentences. It leaves blocks of code alone. */
function keepBraces(markdown) {
  for (const kind of ["text", "code_inline"]) {
    const render = markdown.renderer.rules[kind];
    markdown.renderer.rules[kind] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
  }
}

/** A screen reader must not announce the header of a column without a title. */
function leaveOutEmptyHeaders(markdown) {
  markdown.core.ruler.push("empty_headers", ({ tokens }) => {
    tokens.forEach(({ type }, index) => {
      if (type !== "th_open" || tokens[index + 1].content !== "") return;
      tokens[index].tag = "td";
      tokens[index + 2].tag = "td";
    });
  });
}

/** Gives the names of languages enough contrast, and hides the keys in the search button, which are not its name. */
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
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      keepBraces(markdown);
      leaveOutEmptyHeaders(markdown);
    },
    languageAlias: { conf: "ini" },
    // Colors with enough contrast for all readers.
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
