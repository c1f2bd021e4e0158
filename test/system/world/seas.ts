import type { Feature } from "geojson";

/* Names of oceans and seas, about in their middles. */

type Sea = readonly [name: string, longitude: number, latitude: number, fromZoom: number];

const OCEANS: readonly Sea[] = [
  ["North Atlantic Ocean", -40, 32, 1],
  ["South Atlantic Ocean", -15, -28, 1],
  ["North Pacific Ocean", -155, 30, 1],
  ["South Pacific Ocean", -130, -28, 1],
  ["Indian Ocean", 78, -25, 1],
  ["Southern Ocean", 20, -61, 2],
  ["Arctic Ocean", -10, 82, 2],
];

const SEAS: readonly Sea[] = [
  ["Mediterranean Sea", 18, 34.6, 4],
  ["Caribbean Sea", -75, 15, 3],
  ["Gulf of Mexico", -90, 25, 3],
  ["Hudson Bay", -85, 60, 3],
  ["Labrador Sea", -53, 58, 3],
  ["Norwegian Sea", 2, 67.5, 3],
  ["North Sea", 3.2, 56.5, 4],
  ["Baltic Sea", 19.6, 56.8, 5],
  ["Bay of Biscay", -4.5, 45.3, 4],
  ["Black Sea", 34.5, 43.2, 4],
  ["Caspian Sea", 50.6, 41.6, 4],
  ["Red Sea", 38.2, 20.3, 4],
  ["Persian Gulf", 51.5, 27, 5],
  ["Arabian Sea", 64, 15, 3],
  ["Bay of Bengal", 88.5, 14, 3],
  ["South China Sea", 114.5, 14, 3],
  ["East China Sea", 125, 29, 4],
  ["Yellow Sea", 123.5, 35.5, 5],
  ["Sea of Japan", 135, 40, 4],
  ["Sea of Okhotsk", 149, 54, 3],
  ["Bering Sea", -178, 58, 3],
  ["Philippine Sea", 133, 19, 3],
  ["Coral Sea", 154, -17, 3],
  ["Tasman Sea", 161, -38, 3],
  ["Barents Sea", 38, 74, 3],
  ["Kara Sea", 71, 75.5, 4],
  ["Gulf of Guinea", 2.5, 2, 3],
  ["Gulf of Alaska", -146, 57, 3],
  ["Beaufort Sea", -138, 72.5, 4],
  ["Weddell Sea", -42, -71, 3],
  ["Ross Sea", -173, -75.5, 3],
];

export function seaLabels(): Feature[] {
  return [...OCEANS.map((sea) => labelOf("ocean", sea)), ...SEAS.map((sea) => labelOf("sea", sea))];
}

function labelOf(kind: string, [name, longitude, latitude, min_zoom]: Sea): Feature {
  return {
    type: "Feature",
    properties: { kind, name, min_zoom },
    geometry: { type: "Point", coordinates: [longitude, latitude] },
  };
}
