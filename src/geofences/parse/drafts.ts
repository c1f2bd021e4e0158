import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { ALERT_TYPES, type WatchDraft, withSharedDefaults } from "../../model/watches/watch-rules.ts";
import { parseGeometry } from "./geometry.ts";
import { commonRulesOf, fenceRulesOf, lookOf, parseAlertMembers, parseFenceProperties } from "./rules.ts";

/** Those that answers have beside the properties may come back, and are ignored. */
const FEATURE_MEMBERS: readonly string[] = [
  ...["type", "geometry", "properties", "id", "bbox", "version", "created", "updated"],
];

/** A fence of a GeoJSON Feature. The error begins with the path of the wrong member. */
export function parseFence(value: unknown): Result<WatchDraft, string> {
  if (!isObject(value) || value.type !== "Feature") return fail("type must be Feature");
  const stranger = Object.keys(value).find((name) => !FEATURE_MEMBERS.includes(name));
  if (stranger !== undefined)
    return fail(`${stranger} is unknown: a fence has type, geometry and properties`);
  const properties = parseFenceProperties(value.properties);
  if (!properties.ok) return properties;
  const { radius_meters: radius, buffer_meters: buffer } = properties.value;
  const area = parseGeometry(value.geometry, { radius, buffer });
  if (!area.ok) return area;
  const terms = { kind: "fence", rules: fenceRulesOf(properties.value), area: area.value } as const;
  return ok(withSharedDefaults({ look: lookOf(properties.value), terms }));
}

/** An alert of the members of a JSON object. */
export function parseAlert(value: unknown): Result<WatchDraft, string> {
  const members = parseAlertMembers(value);
  if (!members.ok) return members;
  const types = ALERT_TYPES.filter((type) => members.value[type] !== null);
  const [type] = types;
  if (type === undefined || types.length > 1) return fail(`an alert has one of ${ALERT_TYPES.join(", ")}`);
  const rules = { ...commonRulesOf(members.value), type, limit: members.value[type]! };
  return ok(withSharedDefaults({ look: lookOf(members.value), terms: { kind: "alert", rules } }));
}
