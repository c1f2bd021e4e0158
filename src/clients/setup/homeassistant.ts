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

/** What is not known is sent as 0 and taken for missing: a template can't leave a member out in few words. */
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
      {"device_id": "{{ tracker }}",
      "timestamp": "{{ states[tracker].last_updated.isoformat() }}",
      "location": {"latitude": {{ state_attr(tracker, "latitude") | float(0) }},
      "longitude": {{ state_attr(tracker, "longitude") | float(0) }},
      "accuracy": {{ state_attr(tracker, "gps_accuracy") | float(0) }},
      "altitude": {{ state_attr(tracker, "altitude") | float(0) }},
      "speed": {{ state_attr(tracker, "speed") | float(0) }} },
      "battery": {"level": {{ states("sensor.YOUR_PHONE_battery_level") | float(0) }} } }

automation:
  - alias: Position to Wherehouse
    mode: queued
    triggers:
      - trigger: state
        entity_id: device_tracker.YOUR_PHONE
    actions:
      - action: rest_command.wherehouse
        data:
          tracker: device_tracker.YOUR_PHONE
`;
}
