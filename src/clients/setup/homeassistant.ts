import { addressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function homeassistantSetup(request: SetupRequest): Setup {
  return {
    app: "Home Assistant",
    place: "configuration.yaml, with your tracker's and battery sensor's names in it; then restart",
    fields: [],
    paste: configuration(addressOf(request, "homeassistant"), request.key),
    link: null,
    isOneDevice: true,
    notes: [
      "It doesn't try again: what it can't send is lost. OwnTracks on the phone keeps it, so use that beside it.",
      "If the tracker comes from its OwnTracks integration, speeds are in km/h: add ?speed_unit=kmh to the address.",
    ],
  };
}

/** The payload is one value that Home Assistant writes as JSON, so that it is JSON whatever the tracker knows. */
function configuration(address: string, key: string): string {
  return `\
rest_command:
  wherehouse:
    url: ${JSON.stringify(address)}
    method: POST
    content_type: application/json
    headers:
      Authorization: "Bearer ${key}"
    payload: >-
      {{ {"device_id": tracker,
      "timestamp": states[tracker].last_updated.isoformat(),
      "location": {"latitude": state_attr(tracker, "latitude"),
      "longitude": state_attr(tracker, "longitude"),
      "accuracy": state_attr(tracker, "gps_accuracy"),
      "altitude": state_attr(tracker, "altitude"),
      "speed": state_attr(tracker, "speed")},
      "battery": {"level": states("sensor.YOUR_PHONE_battery_level")}} | tojson }}

automation:
  - alias: Position to Wherehouse
    mode: queued
    triggers:
      - trigger: state
        entity_id: device_tracker.YOUR_PHONE
    conditions:
      - condition: template
        value_template: '{{ state_attr("device_tracker.YOUR_PHONE", "latitude") is not none }}'
    actions:
      - action: rest_command.wherehouse
        data:
          tracker: device_tracker.YOUR_PHONE
`;
}
