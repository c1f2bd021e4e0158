import { Elysia } from "elysia";
import { METERS_PER_MILE } from "../../geo/distance.ts";
import type { Nearby } from "../../service/nearby.ts";
import { LongAnswers } from "../answer/long-answers.ts";
import type { Call, Gate } from "../gate.ts";
import { presentNearby } from "../present/nearby.ts";
import { describeNearby } from "../schema/describe.ts";
import { readQuery } from "../schema/parameter.ts";
import { nearbyParameters } from "../schema/parameters.ts";

const MS_PER_HOUR = 3_600_000;
const PATH = "/api/v1/devices/nearby";

export function nearbyRoutes({ gate, nearby }: { readonly gate: Gate; readonly nearby: Nearby }) {
  const long = new LongAnswers();

  function answer(call: Call) {
    const read = readQuery(call.request.url, nearbyParameters);
    if (!read.ok) return call.fail(read.error);
    const { latitude, longitude, radius_miles, max_age_hours, limit, offset, min_accuracy, timezone } =
      read.value;
    const query = {
      latitude,
      longitude,
      radiusMeters: radius_miles * METERS_PER_MILE,
      ageMsMax: max_age_hours * MS_PER_HOUR,
      accuracyMetersMax: min_accuracy,
      offset,
      limit,
    };
    return long.make(call.appId, () => {
      const found = nearby(call.appId, query);
      return call.json(presentNearby(call.appId, found, read.value, timezone, call.elapsedMs()));
    });
  }

  const admit = gate.keyed("GET", PATH, "read", answer);
  const handle = ({ request }: { request: Request }) => admit(request);
  return new Elysia().get(PATH, handle.bind(null), { detail: describeNearby });
}
