import { describe, expect, test } from "bun:test";
import { createKeyText } from "../../../../src/auth/api-key.ts";
import { parseCommand } from "../../../../src/cli/parse-command.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";

const KEY = createKeyText();

function parsed(line: string) {
  const command = parseCommand(line.split(" "), {});
  return command.ok ? { kind: command.value.name, ...command.value.options } : command.error.message;
}

describe("export", () => {
  test("knows from where, what and how", () => {
    const command = parsed(
      "export --app shop --format gpx --device a --device b --user u --from 2025-01-01 --to 2025-12-31 " +
        "--timezone Europe/Berlin --out x --compress zstd --simplify 0.5km --gap 2h --force",
    );
    expect(command).toMatchObject({
      kind: "export",
      source: { kind: "directory", appId: "shop" },
      format: { name: "gpx", order: "device" },
      deviceIds: ["a", "b"],
      userId: "u",
      from: "2025-01-01",
      to: "2025-12-31",
      out: "x",
      compression: "zstd",
      split: null,
      force: true,
      options: {
        zone: parseZone("Europe/Berlin"),
        redact: false,
        recordSeparator: false,
        gapMs: 7_200_000,
        simplifyMeters: 500,
      },
    });
    expect(parsed(`export --url http://h --key ${KEY} --format csv --redact`)).toMatchObject({
      source: { kind: "server", url: "http://h", key: KEY },
      out: "-",
      from: null,
      to: null,
      deviceIds: [],
      options: { redact: true, gapMs: 1_800_000, simplifyMeters: null, zone: null },
    });
  });

  test("--complete takes devices or a user, and leaves out nothing unless that is allowed", () => {
    expect(parsed("export --app shop --complete --device a --device b --out x --gap 2h")).toMatchObject({
      content: "complete",
      deviceIds: ["a", "b"],
      userId: null,
      out: "x",
      isPartial: false,
      options: { gapMs: 7_200_000 },
    });
    expect(parsed(`export --url http://h --key ${KEY} --complete --user u --partial`)).toMatchObject({
      content: "complete",
      userId: "u",
      isPartial: true,
    });
  });

  test("says what is missing and what does not go together", () => {
    const refusals: Record<string, string> = {
      "--app a": "export needs --format, or --complete",
      "--format csv": "export needs --app, or --url with --key",
      "--format csv --url http://h": "--url needs --key, or the key in WHEREHOUSE_KEY",
      "--app a --format xlsx":
        '--format must be one of ndjson, csv, geojson, geojsonseq, gpx, kml, kmz, owntracks, parquet, not "xlsx"',
      "--app a --format csv x": 'Unexpected argument "x"',
      "--app a --format csv --from 2025-02-29":
        '--from must be a date that exists, such as 2025-12-31, not "2025-02-29"',
      "--app a --format csv --from 2025-02-02 --to 2025-02-01": "--from must not be after --to",
      "--app a --format csv --split device": "--split needs --out, the directory to write the files to",
      "--app a --format csv --split day --out x": "--split day needs --from",
      "--app a --format csv --split device --out x --redact":
        "--redact numbers the devices of one file, so it can't be used with --split",
      "--app a --format kmz --compress gzip": "kmz is compressed already: omit --compress",
      "--app a --format csv --simplify 10m": "csv can't note that tracks were simplified: omit --simplify",
      "--app a --format gpx --simplify 10":
        '--simplify must be a distance such as 10m or 0.5km, at most 100km, not "10"',
      "--app a --format gpx --simplify 0m":
        '--simplify must be a distance such as 10m or 0.5km, at most 100km, not "0m"',
      "--app a --format gpx --rs": "--rs is for geojsonseq",
      "--app a --format gpx --gap 0m": '--gap must be a time such as 30m, 2h or 1d, not "0m"',
      "--app a --format csv --partial": "--partial goes with --complete",
      "--app a --complete": "--complete needs --device or --user",
      "--app a --complete --device a --user u":
        "--complete takes --device or --user, not both: a user's devices are found",
      "--complete --user u": "export needs --app, or --url with --key",
    };
    for (const other of [
      "--format csv",
      "--from 2025-01-01",
      "--to 2025-01-01",
      "--compress gzip",
      "--split device",
      "--simplify 10m",
      "--redact",
      "--originals",
      "--rs",
    ])
      refusals[`--app a --complete --user u ${other}`] =
        `--complete writes everything in its own formats: omit ${other.split(" ")[0]}`;
    for (const [line, refusal] of Object.entries(refusals)) expect(parsed(`export ${line}`)).toBe(refusal);
  });
});
