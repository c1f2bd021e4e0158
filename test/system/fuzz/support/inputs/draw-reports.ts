import { REPORT_FIELDS } from "../../../../../src/model/location-fields.ts";
import type { AcceptedTimes } from "../../../../../src/model/report.ts";
import type { Draw } from "./draw.ts";

/** A year, so that most times that are drawn lie in it. */
export const TIMES: AcceptedTimes = { oldestMs: 1_740_000_000_000, newestMs: 1_771_536_000_000 };

const NAMES = [...REPORT_FIELDS.map(({ name }) => name), "timestamp_ms", "speed_mps", "__proto__", "unknown"];
const CHOICES = ["MOVING", "STATIONARY", "true", "false", "PRECISE", "Charging", "ANONYMOUS", "+01:00"];

/** A report as clients send it: mostly good, some members odd, some of them twice as JSON. */
export function drawReport(draw: Draw): Record<string, unknown> {
  const report: Record<string, unknown> = {
    device_id: draw.chance(12) ? drawMember(draw) : draw.text(20),
    timestamp: draw.chance(8) ? drawMember(draw) : drawTime(draw),
    latitude: draw.chance(12) ? drawMember(draw) : draw.upTo(180_000) / 1000 - 90,
    longitude: draw.chance(12) ? drawMember(draw) : draw.upTo(360_000) / 1000 - 180,
  };
  for (let members = draw.upTo(6); members > 0; members--) report[draw.pick(NAMES)] = drawMember(draw);
  return report;
}

export function drawTime(draw: Draw): number {
  return TIMES.oldestMs + draw.upTo(TIMES.newestMs - TIMES.oldestMs);
}

function drawMember(draw: Draw): unknown {
  switch (draw.upTo(6)) {
    case 0:
      return draw.pick(CHOICES);
    case 1:
      return draw.text(200);
    case 2:
      return draw.chance(2);
    case 3:
      return null;
    case 4:
      return drawTime(draw);
    case 5:
      return draw.pick([[], {}, [1], { a: 1 }]);
    default:
      return finite(draw.double());
  }
}

/** JSON has no others. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 90;
}
