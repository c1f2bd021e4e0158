import fc from "fast-check";

/**
 * Reports that conflict: few devices, users and instants around a midnight, so that repeats, replacements, late
 * arrivals and changes of user are common.
 */
export const BASE_MS = Date.UTC(2026, 0, 15);

export const arbitraryReport = fc.record(
  {
    device_id: fc.constantFrom("a", "b", "B", "ä", "\u{1F68C}", "\uFF21", "10", "9"),
    timestamp: fc.integer({ min: -60, max: 60 }).map((step) => BASE_MS + step * 1000),
    latitude: fc.constantFrom(42.36, 42.361, -90, 90, 0),
    longitude: fc.constantFrom(-71.05, -71.06, 180, -180, 0),
    user_id: fc.constantFrom("u", "v", null),
    horizontal_accuracy: fc.constantFrom(4.8, 50, 1000, null),
    vertical_accuracy: fc.constantFrom(3, null),
    altitude: fc.constantFrom(-1.5, 0, null),
    speed: fc.constantFrom(0, 8.3, null),
    bearing: fc.constantFrom(0, 359.99, null),
    battery_level: fc.constantFrom(81, 0.5, null),
    type: fc.constantFrom("MOVING", "STATIONARY", "", null),
    is_mock: fc.constantFrom(true, false, null),
    brand: fc.constantFrom("Google", 'q"uote', null),
    os_version: fc.constantFrom("15", null),
  },
  { requiredKeys: ["device_id", "timestamp", "latitude", "longitude"] },
);
