import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fail, type Result } from "../../../src/lib/result.ts";
import { type Daemon, findProgram, makeDirectory, startDaemon } from "./daemon.ts";

const INSTALL = "no mosquitto in the PATH or /usr/sbin; Debian: apt install mosquitto";

/** A local Mosquitto with open access and unlimited in-memory sessions. */
export async function startMosquitto(): Promise<Result<Daemon, string>> {
  const program = findProgram("mosquitto", ["/usr/sbin"]);
  if (program === null) return fail(INSTALL);
  const directory = makeDirectory("mosquitto");
  return startDaemon({
    directory,
    argv: (port) => {
      const path = join(directory, "mosquitto.conf");
      const lines = [`listener ${port} 127.0.0.1`, "allow_anonymous true", "max_queued_messages 10000000"];
      writeFileSync(path, `${lines.join("\n")}\n`);
      return [program, "-c", path];
    },
    stopSignal: "SIGTERM",
    greet: (port) =>
      new Promise((resolve, reject) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.end();
          resolve();
        });
        socket.once("error", reject);
      }),
  });
}
