import { createServer, type Socket } from "node:net";
import { generate, type Packet, parser } from "mqtt-packet";

/** A broker controlled by the test: it accepts all clients, and sends the given messages. */
export interface ScriptedBroker {
  readonly port: number;
  /** What clients sent, connection by connection. */
  readonly received: Packet[][];
  /** To the newest connection. */
  send(packet: Packet): void;
  /** Closes the newest connection. */
  drop(): void;
  stop(): Promise<void>;
}

/** `hasSession` is reported to each new connection. */
export async function startScriptedBroker(hasSession: () => boolean): Promise<ScriptedBroker> {
  const received: Packet[][] = [];
  let newest: Socket | null = null;
  const server = createServer((socket) => {
    newest = socket;
    const packets: Packet[] = [];
    received.push(packets);
    const reading = parser();
    reading.on("packet", (packet) => {
      packets.push(packet);
      if (packet.cmd === "connect")
        socket.write(generate({ cmd: "connack", returnCode: 0, sessionPresent: hasSession() }));
      if (packet.cmd === "subscribe")
        socket.write(generate({ cmd: "suback", messageId: packet.messageId!, granted: [1] }));
    });
    socket.on("data", (bytes: Buffer) => reading.parse(bytes));
    socket.on("error", () => undefined); // The client may be gone first.
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    received,
    send: (packet) => newest!.write(generate(packet)),
    drop: () => newest!.destroy(),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export function publishPacket(messageId: number, payload: string): Packet {
  return {
    cmd: "publish",
    topic: "owntracks/anna/pixel",
    payload,
    qos: 1,
    messageId,
    dup: false,
    retain: false,
  };
}
