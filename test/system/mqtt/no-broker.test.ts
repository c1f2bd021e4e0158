import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { freePort } from "./support/mosquitto.ts";

/* A broker that is not there, and files that are not. */

let place: Place;
beforeEach(() => {
  place = openPlace();
});
afterEach(() => closePlace(place));

for (const runtime of RUNTIMES) {
  test(`a broker that is down keeps no server from starting or stopping, on ${runtime.name}`, async () => {
    const url = `mqtt://127.0.0.1:${await freePort()}`;
    const server = await startReady(runtime, place, ["--mqtt", url, "--mqtt-app", "default"]);
    await server.says(/No connection to the MQTT broker for owntracks\/\+\/\+, retrying: .*ECONNREFUSED/);
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    expect((await server.stop()).code).toBe(0);
  });
}

test("a file that the operator named and that can't be read ends the start with a sentence", async () => {
  const password = join(place.directory, "password");
  writeFileSync(password, "of nobody\n");
  for (const [flag, missing] of [
    ["--mqtt-password-file", join(place.directory, "no-password")],
    ["--mqtt-ca", join(place.directory, "no-ca.pem")],
  ] as const) {
    const flags = ["--mqtt", "mqtts://anna@127.0.0.1:1", "--mqtt-app", "default", flag, missing];
    const { code, error } = await runCommand(RUNTIMES[0]!, place, ["serve", "--port", "0", ...flags]);
    expect(code).toBe(1);
    expect(error).toContain(`Cannot read \\"${missing}\\": no such file or directory (ENOENT)`);
  }
});
