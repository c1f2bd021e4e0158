/* Headers of the files of pages. */

/** A browser may keep these, and asks each time whether they are still the same. */
export const ASK_AGAIN = { "cache-control": "no-cache" };
/** Where the path names a version. */
export const FOR_GOOD = { "cache-control": "public, max-age=31536000, immutable" };

/** Other sites neither embed these files nor reach into the page's window, and learn of no address here. */
export const OURS_ALONE = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};
