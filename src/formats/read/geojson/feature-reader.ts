import { isMembers } from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import type { ReadOptions } from "../format.ts";
import type { Wanted } from "../json/json-cutter.ts";
import type { CutReader } from "../json/read-cuts.ts";
import { createFileTimes } from "../time/file-times.ts";
import { type FeatureContext, readFeature } from "./feature.ts";

export function featureContext(
  sink: PointSink,
  { zone, speedUnit }: ReadOptions,
  isOverland = false,
): FeatureContext {
  return {
    sink,
    times: createFileTimes(zone, sink),
    dialect: { speedUnit, isOverland },
    device: null,
  };
}

/** Reads Features in lists, and the one that is the whole text, whose members are cut out one by one. */
export function featureReader(context: FeatureContext, wanted: Wanted): CutReader {
  const alone: Record<string, unknown> = {};
  return {
    wanted,
    *read({ member, value }) {
      if (member !== null && wanted.members?.includes(member)) alone[member] = value;
      else if (isMembers(value)) yield* readFeature(value, context);
      else context.sink.skip("unreadable");
    },
    *end() {
      if (alone.type === "Feature") yield* readFeature(alone, context);
    },
  };
}
