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
  const { title, text } =
    fault === null ? INCOMPLETE : (ENDS[refusal?.errorName ?? ""] ?? { ...UNKNOWN, text: fault });
  return html`<main class="sign-in"><div class="ended"><h2>${title}</h2><p>${text}</p></div></main>`;
}

interface LinkEnd {
  readonly title: string;
  readonly text: string;
}

const INCOMPLETE: LinkEnd = {
  title: "Please open the complete link that you were sent",
  text: "This page shows only what such a link leads to.",
};
const OVER: LinkEnd = {
  title: "This link has expired or was revoked",
  text: "Ask the sender for a new one.",
};
const WRONG: LinkEnd = {
  title: "This link does not work",
  text: "Check that you opened the complete link. If you did, it has expired or was revoked: ask the sender for a new one.",
};
const OPEN_AGAIN: LinkEnd = {
  title: "Please open the link again",
  text: "The page was open for as long as one visit may last.",
};
const UNKNOWN = { title: "This link shows nothing now" };

/** By the server's error code. They don't mention keys and sessions, which visitors don't know about. */
const ENDS: Readonly<Record<string, LinkEnd>> = {
  REVOKED_API_KEY: OVER,
  EXPIRED_API_KEY: OVER,
  INVALID_API_KEY: WRONG,
  INSUFFICIENT_PERMISSIONS: WRONG,
  MISSING_API_KEY: OPEN_AGAIN,
  MISSING_SESSION: OPEN_AGAIN,
  INVALID_SESSION: OPEN_AGAIN,
  EXPIRED_SESSION: OPEN_AGAIN,
};
