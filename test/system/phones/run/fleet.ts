import type { TierName } from "../../../../src/auth/tiers.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { createPicker } from "../../support/random.ts";
import { bostonTrack } from "../../support/track.ts";
import type { App } from "../apps/app.ts";
import { APPS } from "../apps/apps.ts";
import { colota } from "../apps/colota.ts";
import { overland } from "../apps/overland.ts";
import { owntracksAndroid, owntracksIos } from "../apps/owntracks.ts";
import { traccar10 } from "../apps/traccar-10.ts";
import { createJourney } from "../phone/journey.ts";
import type { Pace } from "../phone/pace.ts";
import { createPhone, type Phone } from "../phone/phone.ts";

/** A phone of the fleet, before it is made. */
export interface PhonePlan {
  readonly app: App;
  readonly appId: string;
  /** Beside the app's name. */
  readonly suffix?: string;
  readonly boundTo?: string;
  readonly tier?: TierName;
  /** Of its points, those that are no good ones. */
  readonly oddShare?: number;
}

const ODD_SHARE = 0.1;
const USER = "anna";

/** Two apps in which people have the same names; phones that pretend, that are slowed, that send little but poison. */
export const FLEET: readonly PhonePlan[] = [
  ...APPS.map((app) => ({ app, appId: "north" })),
  ...[owntracksAndroid, overland, traccar10, colota].map((app) => ({ app, appId: "south" })),
  { app: owntracksAndroid, appId: "north", suffix: "bound, with another's name", boundTo: "bound-phone" },
  { app: owntracksIos, appId: "south", suffix: "slowed", tier: "free" },
  ...[owntracksAndroid, traccar10, overland].map((app) => ({
    ...{ app, appId: "south", suffix: "poison", boundTo: `poison-${slug(app)}`, oddShare: 0.8 },
  })),
];

export interface FleetOptions {
  readonly plans: readonly PhonePlan[];
  readonly seed: number;
  readonly url: string;
  readonly pace: Pace;
  /** For a file that the tracks may have to be written to. */
  readonly directory: string;
  /** Of each phone, at most; they are made to lie before now, and within a day. */
  readonly pointsMax: number;
}

const STEP_MS_MAX = 30_000;
const SPAN_MS_MAX = 20 * 3_600_000;
/** On a busy machine a run takes longer, and phones make more points: none may come to be of the future. */
const SLOW_TIMES = 2;

/** Each phone drives along a real track of its own. */
export function createFleet({
  plans,
  seed,
  url,
  pace,
  directory,
  pointsMax,
}: FleetOptions): readonly Phone[] {
  const tracks = [...Map.groupBy(bostonTrack(directory).reports, ({ device_id }) => device_id).values()];
  const long = tracks.toSorted((a, b) => b.length - a.length);
  const stepMs = Math.min(STEP_MS_MAX, SPAN_MS_MAX / (SLOW_TIMES * pointsMax));
  const startMs = Date.now() - SLOW_TIMES * pointsMax * stepMs;
  return plans.map(({ app, appId, suffix = "", boundTo = null, oddShare = ODD_SHARE }, index) => {
    const { oddities, wholeSeconds } = app;
    const pick = createPicker(seededRandom(seed * 1000 + index));
    const journey = createJourney({
      track: long[index]!,
      pick,
      oddities,
      oddShare,
      wholeSeconds,
      startMs,
      stepMs,
    });
    const name = [app.name, appId, suffix].filter((part) => part !== "").join(", ");
    return createPhone({
      name,
      app,
      appId,
      user: USER,
      device: `${slug(app)}-1`,
      boundTo,
      url,
      journey,
      pace,
    });
  });
}

/** The app's name, as a part of an id. */
function slug({ name }: App): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
