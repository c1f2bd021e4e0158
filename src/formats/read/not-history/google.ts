import type { Telltale } from "./not-history.ts";

/** They name the devices whose tags positions carry. */
export const GOOGLE_SETTINGS = "Google settings";

/** What else lies in Google's archives, and is given for want of what was looked for. */
export const GOOGLE_FILES: readonly Telltale[] = [
  {
    kind: "index page",
    answer: "is the index page of a Takeout; give the folder or Records.json",
    tells: ({ name, text }) => name === "archive_browser.html" || /<title>(Google )?Takeout\b/i.test(text),
  },
  {
    kind: "note that Timeline is encrypted",
    answer:
      "says that Timeline is encrypted on Google's side; " +
      "export it on the phone: Settings → Location → Timeline → Export",
    tells: ({ name, text }) =>
      name === "encrypted backups.txt" || /^.{0,100}\bencrypted Timeline backups/i.test(text),
  },
  {
    kind: GOOGLE_SETTINGS,
    answer: "has settings, no positions; Records.json or Timeline.json has those",
    tells: ({ text }) => /^\{[^[]*"(deviceSettings|gaiaId)"\s*:/.test(text),
  },
  {
    kind: "Tombstones.csv",
    answer: "has what was deleted from Timeline, no history",
    tells: ({ name }) => name === "tombstones.csv",
  },
  {
    kind: "Maps reviews",
    answer: "has reviews written in Google Maps, which say nothing of when their writer was where",
    tells: ({ text }) => /^\{/.test(text) && /"(five_star_rating_published|Star Rating)"\s*:/.test(text),
  },
  {
    kind: "saved places",
    answer: "has places saved in Google Maps, with the times they were saved, not those they were visited",
    tells: ({ name, text }) =>
      (/^\{/.test(text) && /"(google_maps_url|Google Maps URL)"\s*:/.test(text)) ||
      /^Title,Note,URL\b/.test(text) ||
      /^labell?ed places\.json$/.test(name),
  },
  {
    kind: "My Activity",
    answer: "is My Activity, what was searched and opened; its places are not where anybody was",
    tells: ({ name, text }) =>
      /^my ?activity\.(json|html)$/.test(name) || /^\[\s*\{\s*"header"\s*:/.test(text),
  },
];
