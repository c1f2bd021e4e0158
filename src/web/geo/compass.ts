const POINTS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"] as const;

/** The point of the compass next to a bearing: `NE`. */
export function compassPoint(degrees: number): string {
  return POINTS[Math.round(degrees / 45) & 7]!;
}
