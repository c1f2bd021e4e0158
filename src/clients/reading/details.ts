import type { PointDetails } from "../point.ts";

/** Details with what is not known left out, from all that a client could have told. */
export function knownDetails(
  told: {
    readonly [Name in keyof PointDetails]: PointDetails[Name] | null;
  },
): PointDetails {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(told)) if (value !== null) known[name] = value;
  return known as PointDetails;
}
