import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** No command takes a folder of something else for a data directory, or leaves anything in it. */

const SAMPLE = join(import.meta.dir, "../../../data/samples/ais_denmark_20100611.csv.gz");

/** What is typed for each command that opens or begins a directory. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  serve: ["--port", "0"],
  demo: [],
  "keys create": ["--app", "a", "--permission", "read"],
  "keys list": [],
  "keys link": [],
  "keys revoke": ["k_00000000"],
  "keys passphrase": ["k_00000000", "--remove"],
  "quarantine list": [],
  "quarantine show": ["0"],
  import: [SAMPLE, "--app", "a"],
  "geofences list": ["--app", "a"],
  "geofences import": ["x", "--app", "a"],
  "geofences export": ["--app", "a"],
  "corrections list": ["--app", "a"],
  "corrections hide": ["bus", "--app", "a", "--at", "1"],
  "corrections move": ["bus", "--app", "a", "--at", "1", "--place", "1,2"],
  "corrections shift": ["bus", "--app", "a", "--at", "1", "--by", "-1h"],
  "corrections assign": ["bus", "--app", "a", "--at", "1", "--to-user", "u"],
  "corrections undo": ["x", "--app", "a"],
  "devices list": ["--app", "a"],
  "devices set": ["bus", "--app", "a", "--name", "Bus"],
  erase: ["--app", "a", "--device", "bus", "--yes"],
  export: ["--app", "a", "--format", "csv"],
  doctor: [],
  "map fetch": ["--from", "http://127.0.0.1:9/a", "--bbox", "1,2,3,4", "--yes"],
  "settings list": [],
  "settings set": ["retention", "10y"],
  seal: [],
  backup: ["../backup"],
  verify: [],
  "cluster init": ["--log", "nats://127.0.0.1:9", "--stream", "s", "--log-size", "100MB"],
  "cluster nodes": [],
};

/** They ask a server, or make a directory of a copy, which must not be there yet. */
const OTHERS = [
  ...["quarantine replay", "quarantine delete", "restore", "join"],
  ...["webhooks list", "webhooks test", "webhooks redeliver"],
];

test("every command is tried, or has no directory to open", () => {
  expect([...Object.keys(TYPED), ...OTHERS].sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});

for (const [command, typed] of Object.entries(TYPED)) {
  test(`${command} refuses a folder of something else`, () =>
    withDirectory(async (root) => {
      const folder = join(root, "src");
      mkdirSync(folder);
      for (const name of ["archive", "wal"]) mkdirSync(join(folder, name));
      writeFileSync(join(folder, "main.ts"), "precious");
      cpSync(folder, join(root, "before"), { recursive: true });
      const refused = await runCli(...command.split(" "), ...typed, "--data-dir", folder);
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toMatch(
        /src\\?" is no data directory: it holds other files, such as \\?"main\.ts/,
      );
      expect(readdirSync(folder, { recursive: true })).toEqual(
        readdirSync(join(root, "before"), { recursive: true }),
      );
    }));
}
