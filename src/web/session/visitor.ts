import { html, nothing, type TemplateResult } from "lit-html";
import { dayMinuteText } from "../time/format.ts";
import { counted } from "../units/count.ts";
import type { SessionFacts } from "./session.ts";

/* What the page says to whoever came by a share link. */

/** Where share links lead; behind it, after a `#`, is their key. */
const SHARE_PATH = "/map/s";

export function isSharePath(path: string): boolean {
  return path === SHARE_PATH;
}

/** What the visitor sees, and until when. */
export function visitorBanner(facts: SessionFacts, zone: string): TemplateResult | typeof nothing {
  const { view, expires } = facts;
  if (view === null) return nothing;
  const { device_ids: ids, not_before: notBeforeMs, precision_meters: precisionMeters } = view;
  const until = expires === null ? "" : ` until ${dayMinuteText(expires, zone)}`;
  const blur = precisionMeters === null ? "" : `, to within ${precisionMeters} m`;
  return html`<p class="visitor" role="note">You see ${counted(ids.length, "device")}${until}.
    <span class="soft">Where they have been since ${dayMinuteText(notBeforeMs, zone)}${blur}.</span></p>`;
}

/** In place of the form that asks for a key, which visitors have none of. */
export function endedLink(fault: string | null): TemplateResult {
  const said =
    fault === null
      ? html`<h2>Open the link again</h2><p>Here is only what a share link leads to.</p>`
      : html`<h2>This link shows nothing now</h2><p>${sentence(fault)}</p>
          <p>It may have ended, or been revoked. Ask who sent it for another.</p>`;
  return html`<main class="sign-in"><div class="ended">${said}</div></main>`;
}

/** The server's words begin small and end without a stop, since programs put them into sentences of their own. */
function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith(".") ? "" : ".");
}
