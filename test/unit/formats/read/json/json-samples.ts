/** Samples of JSON, and the format that each is of. */
export const JSON_SAMPLES = [
  ["google/Records.json", "google-records"],
  ["google/Records-before-2022.json", "google-records"],
  ["google/2021_MARCH.json", "google-semantic"],
  ["google/Timeline.json", "google-timeline"],
  ["google/location-history-ios.json", "google-timeline-ios"],
  ["owntracks/ocat.json", "owntracks-json"],
  ["traccar/api-positions.json", "traccar-json"],
  ["dawarich/export-v2/points/2026/2026-02.jsonl", "dawarich"],
  ["dawarich/points.geojson", "geojson"],
  ["geojson/linestring-coordtimes.geojson", "geojson"],
  ["geojson/points.geojsonseq", "geojsonseq"],
  ["polarsteps/locations.json", "polarsteps"],
] as const;
