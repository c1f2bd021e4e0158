/** Whether there is such a place, in degrees; NaN is none. */
export function isOnEarth(latitude: number, longitude: number): boolean {
  return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180;
}
