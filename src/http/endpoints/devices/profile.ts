import { type ProfileMembers, parseDeviceProfile, profileMembers } from "../../../model/device-profile.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { readShortObject } from "../../body/short-body.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { deviceId, newDeviceId } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { always, count, object, plain, ref, text, type ValueOf } from "../../shapes/shape.ts";
import {
  BODY_BYTES_MAX,
  BODY_FAILURES,
  EXAMPLE_PROFILE,
  MISSING_PROFILE,
  NEW_PROFILE_SCHEMA,
  PROFILE_SCHEMA,
} from "./profile-shapes.ts";

const PATH = "/api/v1/devices/:deviceId/profile";

const profile = plain<ProfileMembers>(ref("schemas", "DeviceProfile"));
const sequence = count("Position in the log after this request.");

const profileAnswer = object({ success: always(true), device_id: text("The requested device."), profile });

export const deviceProfile = queryEndpoint({
  operationId: "getDeviceProfile",
  tag: "Devices",
  summary: "Name, color, icon, tags and metadata of a device",
  description: "A device has a profile once it was given one, whether it has reported or not.",
  path: PATH,
  inPath: { deviceId },
  query: {},
  answer: {
    name: "DeviceProfileAnswer",
    description: "The profile.",
    shape: profileAnswer,
    example: { success: true, device_id: EXAMPLE_REPORT.device_id, profile: EXAMPLE_PROFILE },
  },
  failures: { 404: MISSING_PROFILE },
  schemas: { DeviceProfile: PROFILE_SCHEMA },
  open({ hot }) {
    return (call, { deviceId }) => {
      const known = hot.profiles.find(call.appId, deviceId);
      if (known === null) return call.fail({ kind: "profile_not_found" });
      const body: ValueOf<typeof profileAnswer> = {
        success: true,
        device_id: deviceId,
        profile: profileMembers(known),
      };
      return call.object(body, 200);
    };
  },
});

const stored = object({ success: always(true), device_id: text("The requested device."), profile, sequence });

export const setDeviceProfile = queryEndpoint({
  operationId: "setDeviceProfile",
  tag: "Devices",
  summary: "Sets the profile of a device",
  description: [
    "Replaces the whole profile. The device need not have reported yet. The profile is on disk and in all answers once",
    "this is answered; the profiles of an app have at most 64 MiB.",
  ].join(" "),
  method: "PUT",
  permission: "edit",
  path: PATH,
  inPath: { deviceId: newDeviceId },
  query: {},
  body: {
    description: "The profile.",
    example: EXAMPLE_PROFILE,
    content: { "application/json": { schema: ref("schemas", "NewDeviceProfile"), example: EXAMPLE_PROFILE } },
  },
  answer: {
    name: "DeviceProfileStored",
    description: "The profile as it is stored.",
    shape: stored,
    example: { success: true, device_id: EXAMPLE_REPORT.device_id, profile: EXAMPLE_PROFILE, sequence: 4711 },
  },
  failures: BODY_FAILURES,
  schemas: { NewDeviceProfile: NEW_PROFILE_SCHEMA },
  open({ editProfile }) {
    return async (call, { deviceId }) => {
      const members = await readShortObject(call.request, { bytesMax: BODY_BYTES_MAX });
      if (!members.ok) return call.fail(members.error);
      const parsed = parseDeviceProfile(members.value);
      if (!parsed.ok) return call.fail({ kind: "invalid_parameter", message: parsed.error });
      const edited = await editProfile(call.appId, deviceId, parsed.value);
      if (!edited.ok) return call.fail(edited.error);
      const body: ValueOf<typeof stored> = {
        success: true,
        device_id: deviceId,
        profile: profileMembers(parsed.value),
        sequence: edited.value,
      };
      return call.object(body, 200);
    };
  },
});

const deleted = object({ success: always(true), device_id: text("The requested device."), sequence });

export const deleteDeviceProfile = queryEndpoint({
  operationId: "deleteDeviceProfile",
  tag: "Devices",
  summary: "Deletes the profile of a device",
  description: "Its records stay.",
  method: "DELETE",
  permission: "edit",
  path: PATH,
  inPath: { deviceId },
  query: {},
  answer: {
    name: "DeviceProfileDeleted",
    description: "The device has no profile any more.",
    shape: deleted,
    example: { success: true, device_id: EXAMPLE_REPORT.device_id, sequence: 4712 },
  },
  failures: { 404: MISSING_PROFILE },
  open({ hot, editProfile }) {
    return async (call, { deviceId }) => {
      if (hot.profiles.find(call.appId, deviceId) === null) return call.fail({ kind: "profile_not_found" });
      const edited = await editProfile(call.appId, deviceId as DeviceId, null);
      if (!edited.ok) return call.fail(edited.error);
      const body: ValueOf<typeof deleted> = { success: true, device_id: deviceId, sequence: edited.value };
      return call.object(body, 200);
    };
  },
});
