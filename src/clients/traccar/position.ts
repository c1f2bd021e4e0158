import type { PointDetails } from "../point.ts";
import { knownDetails } from "../reading/details.ts";
import { type Members, membersOf } from "../reading/members.ts";
import { readSpeed, type SpeedUnit } from "../reading/speed.ts";
import { readBatteryStatus, readIsMoving } from "../reading/states.ts";
import { readMagnitude, readNumber, readPositive } from "../reading/values.ts";

/** What a Traccar server tells of a position, whether it forwards it or is asked for it. */
export function readPositionDetails(position: Members, speedUnit: SpeedUnit): PointDetails {
  const attributes = membersOf(position.attributes);
  return knownDetails({
    horizontal_accuracy: readPositive(position.accuracy),
    altitude: readNumber(position.altitude),
    speed: readSpeed(position.speed, speedUnit),
    bearing: readMagnitude(position.course),
    battery_level: readMagnitude(attributes.batteryLevel),
    battery_status: readBatteryStatus(attributes.charge),
    type: readIsMoving(attributes.motion),
  });
}
