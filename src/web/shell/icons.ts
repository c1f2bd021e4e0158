import { html, type TemplateResult } from "lit-html";

/* The page's icons: outlines in a square of 24, in the color of the text beside them. Texts name what they mean. */

const CIRCLE = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z";

const PATHS = {
  nearby: "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM12 2.5V6M12 18v3.5M2.5 12H6M18 12h3.5M12 11.9v.2",
  heatmap:
    "M12.5 3c.5 3.5 5 5.5 5 10.5a5.5 5.5 0 0 1-11 0c0-2.2 1-3.6 2.3-5 .2 1.8.9 2.8 2 3.2C10.3 8.5 10.8 5.5 12.5 3z",
  fence: "M12 3.5 20 8.500v8L12 20.500 4 16.500v-8zM12 11.900v.2",
  lapse: `${CIRCLE}M10 8.500l5.500 3.500-5.500 3.500z`,
  fit: "M4 9V5.5A1.5 1.5 0 0 1 5.5 4H9M15 4h3.5A1.5 1.5 0 0 1 20 5.5V9M20 15v3.5a1.5 1.5 0 0 1-1.5 1.5H15M9 20H5.5A1.5 1.5 0 0 1 4 18.5V15",
  share: "M12 15V3.5M7.5 7.5 12 3l4.5 4.5M5 12v6.5A1.5 1.5 0 0 0 6.5 20h11a1.5 1.5 0 0 0 1.5-1.5V12",
  connect: "M8 3h7a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM10.5 17.8h2",
  fileIn: "M12 3.5V15M7.5 11 12 15.5l4.5-4.5M5 15v3.5A1.5 1.5 0 0 0 6.5 20h11a1.5 1.5 0 0 0 1.5-1.5V15",
  menu: "M4 7h16M4 12h16M4 17h16",
  help: `${CIRCLE}M9.5 9.6a2.5 2.5 0 1 1 3.7 2.2c-.8.4-1.2.9-1.2 1.9M12 16.8v.2`,
  clock: `${CIRCLE}M12 7v5l3.5 2`,
  ruler: "M3 8.5h18v7H3zM7 8.5v3M11 8.5v4M15 8.5v3M19 8.5v0",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.400 1.400M17.3 17.3l1.400 1.400M5.3 18.7l1.400-1.400M17.3 6.7l1.400-1.400",
  settings:
    "M4 7h8M18 7h2M4 17h2M12 17h8M15 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM9 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  signOut: "M10 4H6.5A1.5 1.5 0 0 0 5 5.5v13A1.5 1.5 0 0 0 6.5 20H10M15 8l4 4-4 4M19 12H9.5",
  pin: "M12 21c4.5-5 6.5-8.3 6.5-11.2a6.5 6.5 0 0 0-13 0C5.5 12.7 7.5 16 12 21zM12 7.5a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6z",
  speed: "M4.5 17.5a9 9 0 1 1 15 0M12 13.5l4-5M12 13.400v.2",
  battery:
    "M4.5 7.5h13A1.5 1.5 0 0 1 19 9v6a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 3 15V9a1.5 1.5 0 0 1 1.5-1.5zM22 10.5v3M6.5 10.800v2.400M10 10.800v2.400",
  route:
    "M6 15.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM18 3.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8.5 18h7a3 3 0 0 0 0-6h-7a3 3 0 0 1 0-6h7",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.2 15.2 20 20",
  copy: "M9.5 8h8A1.5 1.5 0 0 1 19 9.5v9a1.5 1.5 0 0 1-1.5 1.5h-8A1.5 1.5 0 0 1 8 18.5v-9A1.5 1.5 0 0 1 9.5 8zM5 15V5.5A1.5 1.5 0 0 1 6.5 4H15",
  check: "M5 12.5l4.5 4.5L19 7.5",
  follow: "M20 4 13.5 20.5 11 13 3.5 10.5z",
  edit: "M4 20l.9-4.2L16 4.7a2.1 2.1 0 0 1 3 3L8.2 19.1zM14 6.7l3 3",
  chart: "M4 20h16M7 16.5v-5M12 16.5V5M17 16.5v-8",
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]}></path></svg>`;
}
