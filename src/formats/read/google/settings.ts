import { isMembers, membersOf, readText } from "../../../clients/reading/values.ts";
import { parseJson } from "../../../lib/text/long-json.ts";

/**
 * Names of Google's devices by tag, from the `Settings.json` that lies beside the positions; none where the text is
 * something else. Where phones share a name each has its tag behind it, since they are not the same device.
 */
export function readGoogleDevices(text: string): Map<string, string> {
  const { deviceSettings } = membersOf(parseJson(text));
  const named = (Array.isArray(deviceSettings) ? deviceSettings : []).filter(isMembers).flatMap((device) => {
    const tag = readText(device.deviceTag);
    const name = readText(device.devicePrettyName)?.trim() ?? "";
    return tag === null || name === "" ? [] : [{ tag, name }];
  });
  const counts = new Map<string, number>();
  for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(named.map(({ tag, name }) => [tag, counts.get(name) === 1 ? name : `${name} ${tag}`]));
}
