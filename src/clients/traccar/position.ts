import type { PointDetails } from "../point.ts";
import { knownDetails } from "../reading/details.ts";
import { type Members, membersOf } from "../reading/members.ts";
import { readSpeedOrNaN, type SpeedUnit } from "../reading/speed.ts";
import { readBatteryStatus, readIsMoving } from "../reading/states.ts";
import { readMagnitudeOrNaN, readNumberOrNaN, readPositiveOrNaN } from "../reading/values.ts";

/** What a Traccar server tells of a position, whether it forwards it or is asked for it. */
export function readPositionDetails(position: Members, speedUnit: SpeedUnit): PointDetails {
  const attributes = membersOf(position.attributes);
  return knownDetails({
    horizontal_accuracy: readPositiveOrNaN(position.accuracy),
    altitude: readNumberOrNaN(position.altitude),
    speed: readSpeedOrNaN(position.speed, speedUnit),
    bearing: readMagnitudeOrNaN(position.course),
    battery_level: readMagnitudeOrNaN(attributes.batteryLevel),
    battery_status: readBatteryStatus(attributes.charge),
    type: readIsMoving(attributes.motion),
  });
}
