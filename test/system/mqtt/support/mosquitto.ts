import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { findProgram, hasProgram } from "../../../support/programs.ts";
import { until } from "../../../support/until.ts";

/** The real Mosquitto, on a free port, with its sessions on disk as docs/mqtt.md has them. */

const MOSQUITTO = findProgram("mosquitto");

/** Says in one line what is left out where there is no broker; true where there is one. */
export function hasMosquitto(leftOut: string): boolean {
  return hasProgram("mosquitto", leftOut);
}

export interface Broker {
  readonly port: number;
  /** How often clients have subscribed to a topic filter. Before its first time the broker keeps nothing for them. */
  subscriptions(topicFilter: string): number;
  /** Ends it as it is, and starts it again on what it had on disk. */
  restart(signal: NodeJS.Signals): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

/** The flags of a server that takes messages of the broker for the default app. */
export function brokerFlags({ port }: Pick<Broker, "port">): string[] {
  return ["--mqtt", `mqtt://127.0.0.1:${port}`, "--mqtt-app", "default"];
}

/** Starts a broker for everybody in a directory of its own; `lines` go into its configuration. */
export async function startBroker(directory: string, lines: readonly string[] = []): Promise<Broker> {
  const port = await freePort();
  const config = [
    `listener ${port} 127.0.0.1`,
    ...(lines.some((line) => line.startsWith("allow_anonymous")) ? [] : ["allow_anonymous true"]),
    "persistence true",
    `persistence_location ${directory}/`,
    "autosave_interval 1",
    "max_queued_messages 10000000",
    ...lines,
  ];
  return startBrokerWith(directory, port, `${config.join("\n")}\n`);
}

/** Starts a broker with a configuration, which listens on the port. */
export async function startBrokerWith(directory: string, port: number, config: string): Promise<Broker> {
  const path = join(directory, "mosquitto.conf");
  // Else it becomes a user who may not read what root made.
  const user = process.getuid?.() === 0 ? "user root\n" : "";
  writeFileSync(path, `${config}${user}log_dest stderr\nlog_type subscribe\n`);
  let child: Bun.Subprocess | null = null;
  let log = "";

  async function readLog(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of output) log += decoder.decode(bytes, { stream: true });
  }

  async function start(): Promise<void> {
    const started = Bun.spawn([MOSQUITTO!, "-c", path], { stdout: "ignore", stderr: "pipe" });
    child = started;
    void readLog(started.stderr);
    await until(() => {
      if (started.exitCode !== null) throw new Error(`Mosquitto ended with ${started.exitCode}.`);
      return accepts(port);
    });
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    child?.kill(signal);
    await child?.exited;
  }

  await start();
  return {
    port,
    // A line is: TIME: CLIENT QOS TOPIC_FILTER
    subscriptions: (topicFilter) => log.split("\n").filter((line) => line.endsWith(` ${topicFilter}`)).length,
    start,
    stop,
    async restart(signal) {
      await stop(signal);
      await start();
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve((address as { port: number }).port));
    });
  });
}
