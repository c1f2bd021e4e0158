import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { parseJson } from "../../lib/text/long-json.ts";
import { DEVICE_ICONS, type ProfileMembers, parseDeviceProfile } from "../../model/device-profile.ts";
import type { DeviceId } from "../../model/ids.ts";
import { deviceIdFault } from "../../model/report.ts";
import { APP_FLAGS, type AppChoice, parseAppChoice } from "../arguments/app-choice.ts";
import { type CommandInput, defineCommand, oneArgument } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { oneOf, ruled, type ValueKind } from "../arguments/value-kinds.ts";

/* The commands on the profiles of devices, in a data directory or through a running server. */

const TEXT: ValueKind<string> = { placeholder: "TEXT", parse: (text) => ok(text) };

const METADATA = ruled("JSON", "be a JSON object", (text) => {
  const value = parseJson(text);
  return isObject(value) ? value : null;
});

const LIST_FLAGS = {
  ...APP_FLAGS,
  text: { name: "text", takes: TEXT, otherwise: "all", does: "only devices whose id or name contains this" },
  tag: { name: "tag", takes: TEXT, otherwise: "all", does: "only devices with this tag" },
  json: { name: "json", does: "print JSON, with times in Unix milliseconds" },
} as const satisfies FlagRows;

export const DEVICES_LIST = defineCommand({
  name: "devices list",
  takes: "",
  summary: "list the devices of an app with their profiles",
  flags: LIST_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Lists devices that have reported or have a profile. The key needs the permission read. While a server runs over
the data directory, ask the server.`,
    example: (program) => `${program} devices list --app shop --tag van`,
  },
  parse: parseList,
});

export interface DevicesListOptions {
  readonly choice: AppChoice;
  readonly text: string | null;
  readonly tag: string | null;
  readonly json: boolean;
}

function parseList({ values, dataDir }: CommandInput<typeof LIST_FLAGS>): Result<DevicesListOptions, string> {
  const { text, tag, json, ...where } = values;
  const choice = parseAppChoice("devices list", where, dataDir);
  return choice.ok ? ok({ choice: choice.value, text, tag, json }) : choice;
}

const SET_FLAGS = {
  ...APP_FLAGS,
  name: { name: "name", takes: TEXT, otherwise: "as it is", does: "what people call the device" },
  color: { name: "color", takes: TEXT, otherwise: "as it is", does: "its color on the map, #rrggbb" },
  icon: {
    name: "icon",
    takes: oneOf("ICON", DEVICE_ICONS),
    otherwise: "as it is",
    does: "its icon on the map",
  },
  tags: {
    name: "tag",
    takes: TEXT,
    repeats: true,
    otherwise: "as they are",
    does: "a tag; all of them are replaced",
  },
  metadata: {
    name: "metadata",
    takes: METADATA,
    otherwise: "as it is",
    does: "anything else, a JSON object",
  },
  deletes: { name: "delete", does: "delete the profile" },
} as const satisfies FlagRows;

export const DEVICES_SET = defineCommand({
  name: "devices set",
  takes: "DEVICE",
  summary: "set or delete the profile of a device",
  flags: SET_FLAGS,
  help: {
    ways: ["DEVICE --app APP", "DEVICE --url URL --key KEY"],
    before: `Sets the given members of a device's profile; the others stay as they are. The device need not have reported yet.
The key needs the permissions read and edit.`,
    example: (program) =>
      `${program} devices set bus-42 --app shop --name "Bus 42" --color "#1a73e8" --icon bus`,
  },
  parse: parseSet,
});

export interface DevicesSetOptions {
  readonly choice: AppChoice;
  readonly deviceId: DeviceId;
  /** The members to set; null deletes the profile. */
  readonly members: ProfileMembers | null;
}

function parseSet({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof SET_FLAGS>): Result<DevicesSetOptions, string> {
  const { name, color, icon, tags, metadata, deletes, ...where } = values;
  const device = oneArgument(positionals, "devices set", { needs: "a device", takes: "one device" });
  if (!device.ok) return device;
  const fault = deviceIdFault(device.value);
  if (fault !== null) return fail(fault);
  const choice = parseAppChoice("devices set", where, dataDir);
  if (!choice.ok) return choice;
  const members = {
    ...(name === null ? {} : { name }),
    ...(color === null ? {} : { color }),
    ...(icon === null ? {} : { icon }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(metadata === null ? {} : { metadata }),
  };
  const isEmpty = Object.keys(members).length === 0;
  if (deletes && !isEmpty) return fail("--delete goes with no member of the profile");
  if (!deletes && isEmpty)
    return fail("devices set needs --name, --color, --icon, --tag, --metadata or --delete");
  const parsed = parseDeviceProfile(members);
  if (!parsed.ok) return parsed;
  const deviceId = device.value as DeviceId;
  return ok({ choice: choice.value, deviceId, members: deletes ? null : members });
}
