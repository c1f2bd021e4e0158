import { html, nothing, type TemplateResult } from "lit-html";
import { counted } from "../geo/units.ts";
import { dayMinuteText } from "../time/format.ts";
import type { Session, SessionFacts } from "./session.ts";

/* The page of a share link. */

/** The path of share links. Their key follows after a `#`. */
const SHARE_PATH = "/map/s";

export function isSharePath(path: string): boolean {
  return path === SHARE_PATH;
}

/** Tells a visitor what the link shows, and until when. */
export function visitorBanner(facts: SessionFacts, zone: string): TemplateResult | typeof nothing {
  const { view, expires } = facts;
  if (view === null) return nothing;
  const { device_ids: ids, not_before: notBeforeMs, precision_meters: precisionMeters } = view;
  const until = expires === null ? "" : ` until ${dayMinuteText(expires, zone)}`;
  const blur = precisionMeters === null ? "" : `, to within ${precisionMeters} m`;
  return html`<p class="visitor" role="note">You see ${counted(ids.length, "device")}${until}.
    <span class="soft">Positions since ${dayMinuteText(notBeforeMs, zone)}${blur}.</span></p>`;
}

/** Replaces the sign-in form for visitors, who have no key. */
export function endedLink({ fault, refusal }: Session): TemplateResult {
  const content =
    fault === null
      ? html`<h2>Open the link that you were sent</h2>
          <p>This page shows only what such a link leads to. If yours shows nothing, it has ended: ask the person who
          sent it for another.</p>`
      : html`<h2>This link shows nothing now</h2><p>${REASONS[refusal?.errorName ?? ""] ?? fault}</p>`;
  return html`<main class="sign-in"><div class="ended">${content}</div></main>`;
}

const ASK_AGAIN = "Ask the person who sent it for another.";
const OPEN_AGAIN = "The page was open for as long as one visit may last. Open the link again.";

/** Sentences by the server's error code. They don't mention keys, which visitors don't know about. */
const REASONS: Readonly<Record<string, string>> = {
  REVOKED_API_KEY: `It was ended by the person who shared it. ${ASK_AGAIN}`,
  EXPIRED_API_KEY: `Its time is over. ${ASK_AGAIN}`,
  INVALID_API_KEY: `The server doesn't know it. Check that you opened the whole link. If you did, it has ended. ${ASK_AGAIN}`,
  INSUFFICIENT_PERMISSIONS: `It is not a link that shares devices. ${ASK_AGAIN}`,
  MISSING_API_KEY: OPEN_AGAIN,
  MISSING_SESSION: OPEN_AGAIN,
  INVALID_SESSION: OPEN_AGAIN,
  EXPIRED_SESSION: OPEN_AGAIN,
};
