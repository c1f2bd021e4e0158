/* The icons that a device may have: outlines in a square of 24, like those of the page. */

const WHEELS =
  "M7 14.5a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM17 14.5a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z";

/** By the name in the profile. */
export const DEVICE_ICONS = {
  bicycle:
    "M6 12.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM18 12.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM6 16l3.5-7h6L18 16M9.5 9l3 7M8 6.5h3M15.5 9l-.8-3.5H17",
  boat: "M3 14h18l-3 5.5H6zM12 14V3.5L18.5 11H12",
  box: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  bus: "M6.5 4h11A1.5 1.5 0 0 1 19 5.5V17H5V5.5A1.5 1.5 0 0 1 6.5 4zM5 12h14M7.5 17v2.5M16.5 17v2.5M8.2 14.5h.1M15.7 14.5h.1",
  car: "M4 16.5v-4L6 6h12l2 6.5v4zM4 12.5h16M6.5 16.5V19M17.5 16.5V19",
  motorcycle:
    "M5.5 13a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM18.5 13a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM5.5 16h6l3-5H9L5.5 16M18.5 16L15 7h2.5M5.5 9.5H8.5L9 11",
  person: "M12 3.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM5 20.5c0-4 3-6.5 7-6.5s7 2.5 7 6.5z",
  pet: "M12 12c-2.5 0-5 3-5 5.5 0 1.5 1.2 2.5 2.5 2.5 1 0 1.6-.5 2.5-.5s1.5.5 2.5.5c1.3 0 2.5-1 2.5-2.5 0-2.5-2.5-5.5-5-5.5zM5 10.5v1M9.3 5.5v2M14.7 5.5v2M19 10.5v1",
  phone:
    "M8.5 3h7A1.5 1.5 0 0 1 17 4.5v15a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 7 19.5v-15A1.5 1.5 0 0 1 8.5 3zM11 18h2",
  plane:
    "M12 3c.8 0 1.3 1 1.3 2.5V10l7.2 4.5v2l-7.2-2v4l2.2 1.7v1.3l-3.5-.9-3.5.9v-1.3l2.2-1.7v-4l-7.2 2v-2l7.2-4.5V5.5C10.7 4 11.2 3 12 3z",
  scooter:
    "M7 16.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18.5 16.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM9 18.5h4.5c0-2.5 1.5-4 4-4.5M18.3 16.5L14.5 4.5H11",
  tractor:
    "M8 11a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM18.5 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM12.5 16.5H16M5.5 11V4.5h6L13 11h7v4.5M17 11V7",
  train:
    "M8 3.5h8A2.5 2.5 0 0 1 18.5 6v8a2.5 2.5 0 0 1-2.5 2.5H8A2.5 2.5 0 0 1 5.5 14V6A2.5 2.5 0 0 1 8 3.5zM5.5 10h13M9 13.3h.1M15 13.3h.1M8.5 16.5L6 20.5M15.5 16.5l2.5 4",
  truck: `M4.8 16.5H2.5v-11H14v11H9.2M14 9.5h4l3.5 3.5v3.5h-2.3M14.8 16.5H14${WHEELS}`,
  van: `M4.8 16.5H2.5v-10a1 1 0 0 1 1-1h11L19 11l2.5 1.5v4h-2.3M14.8 16.5H9.2M12.5 5.5V11H19${WHEELS}`,
} as const;

export type DeviceIcon = keyof typeof DEVICE_ICONS;

/** `Motorcycle`. */
export function iconLabel(icon: DeviceIcon): string {
  return icon[0]!.toUpperCase() + icon.slice(1);
}
