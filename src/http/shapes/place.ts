import { NEAR_METERS_MAX, type Places } from "../../map/places.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import { amount, closed, plain, ref, type Schema, type Schemas, type Shape, text } from "./shape.ts";

/** The named place near a position, for requests with `places=true`. */

/** Rounded like nearby answers: distances to 4 decimals, bearings to 2. */
export interface ShownPlace {
  readonly name: string;
  readonly country: string;
  readonly distance_miles: number;
  readonly bearing_degrees: number;
}

const PLACE: Schema = {
  ...closed(
    {
      name: text("The name in GeoNames.").schema,
      country: { type: "string", pattern: "^[A-Z]{2}$", description: "ISO 3166-1 alpha-2 code." },
      distance_miles: amount("Great circle from the place, with at most 4 decimals.").schema,
      bearing_degrees: {
        type: "number",
        minimum: 0,
        maximum: 360,
        description: "Initial bearing from the place, clockwise from true north, with at most 2 decimals.",
      },
    },
    {},
    [
      "The nearest city, town or village; null if there is none within",
      `${NEAR_METERS_MAX / METERS_PER_MILE} miles; absent without \`places=true\`. Names by GeoNames, CC BY 4.0.`,
    ].join(" "),
  ),
  nullable: true,
  example: { name: "Liverpool", country: "GB", distance_miles: 0.4467, bearing_degrees: 283.51 },
};

export const PLACE_SCHEMAS: Schemas = { Place: PLACE };

export const placeRef = ref("schemas", "Place");

/** As a member of an object other than a record. */
export const place: Shape<ShownPlace | null> = plain(placeRef);

export function placeOf(
  places: Pick<Places, "nearest">,
  latitude: number,
  longitude: number,
): ShownPlace | null {
  const nearest = places.nearest(latitude, longitude);
  if (nearest === null) return null;
  const { name, country, meters, bearingDegrees } = nearest;
  return {
    name,
    country,
    distance_miles: Math.round((meters / METERS_PER_MILE) * 1e4) / 1e4,
    bearing_degrees: (Math.round(bearingDegrees * 100) / 100) % 360, // 359.999 rounds to north.
  };
}
