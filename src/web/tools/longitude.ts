/** The same meridian from -180° on to below 180°: maps go on beyond, endpoints do not. */
export function wrapped(longitude: number): number {
  return longitude - 360 * Math.floor((longitude + 180) / 360);
}
