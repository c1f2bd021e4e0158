import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { createRandom } from "./random.ts";

const MINUTE_MS = 60_000;
const METERS_PER_DEGREE = 111_195;

/** Ships that change course and speed now and then, and half of the time lie still; minute by minute. */
export function* shipsOfDays(count: number, startMs: number, days = 1) {
  const random = createRandom(1);
  const ships = Array.from({ length: count }, (_, ship) => ({
    device_id: `ship-${ship}`,
    latitude: 54 + 4 * random(),
    longitude: 7 + 6 * random(),
    course: 2 * Math.PI * random(),
    speed: 0,
  }));
  for (let minute = 0; minute < (days * MS_PER_DAY) / MINUTE_MS; minute++)
    for (const ship of ships) {
      if (random() < 0.02) ship.speed = random() < 0.5 ? 0 : 10 * random();
      if (random() < 0.1) ship.course += random() - 0.5;
      const degrees = ((ship.speed + 0.3 * (random() - 0.5)) * 60) / METERS_PER_DEGREE;
      ship.latitude += degrees * Math.cos(ship.course);
      ship.longitude += (degrees * Math.sin(ship.course)) / 0.56;
      const { device_id, latitude, longitude } = ship;
      yield { device_id, latitude, longitude, timestamp: startMs + minute * MINUTE_MS };
    }
}
