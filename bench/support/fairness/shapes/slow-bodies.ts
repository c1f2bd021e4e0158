import type { HostileConnection } from "../attack/hostile-connection.ts";
import { createFreePace } from "../attack/pace.ts";
import { reportsHead } from "../attack/requests.ts";
import { hold } from "../attack/sending.ts";
import type { Shape, Target } from "../shape.ts";

const CHUNKED = { "transfer-encoding": "chunked" };
const SILENT = { "content-length": String(2 ** 20) };
const ONE_BYTE_CHUNK = "1\r\n \r\n";
const CHUNKS_A_WRITE = 10_000;
const TRICKLE_MS = 100;

/** Bodies that arrive slowly or never. */
export const SLOW_BODIES: readonly Shape[] = [
  slow(
    "one-byte-chunks",
    "bodies in chunks of one byte, as fast as they go",
    CHUNKED,
    async (connection, target) => {
      const piece = ONE_BYTE_CHUNK.repeat(CHUNKS_A_WRITE);
      for (
        let sent = 0;
        sent < target.bodyBytes && target.goesOn() && !connection.isClosed;
        sent += CHUNKS_A_WRITE
      )
        await connection.write(piece);
    },
  ),
  {
    // Memory beyond 1 MiB is not reserved in advance, so hundreds of bodies are needed to reach the limit.
    ...slow("silent-bodies", "hundreds of bodies that are announced and never come", SILENT, async () => {}),
    attackTimes: 5,
  },
  slow("trickled-bodies", "bodies that come a byte at a time", declared, async (connection, target) => {
    while (target.goesOn() && !connection.isClosed) {
      await connection.write(" ");
      await Bun.sleep(TRICKLE_MS);
    }
  }),
  slow("stopped-bodies", "bodies that come up to the last byte", declared, (connection, target) =>
    connection.write(Buffer.alloc(target.bodyBytes - 1, " ")),
  ),
  slow("aborted-bodies", "bodies that are broken off halfway", declared, async (connection, target) => {
    await connection.write(Buffer.alloc(target.bodyBytes / 2, " "));
    connection.close();
  }),
];

function declared({ bodyBytes }: Target) {
  return { "content-length": String(bodyBytes) };
}

function slow(
  name: string,
  title: string,
  length: Readonly<Record<string, string>> | ((target: Target) => Readonly<Record<string, string>>),
  send: (connection: HostileConnection, target: Target) => Promise<void>,
): Shape {
  return {
    name,
    title,
    directory: "plain",
    arm(target) {
      const head = reportsHead(target, typeof length === "function" ? length(target) : length);
      const pace = createFreePace();
      return () =>
        hold(
          target,
          async (connection) => {
            void connection.answer().then((status) => target.count(String(status ?? "cut off")));
            await connection.write(head);
            await send(connection, target);
          },
          { turn: () => pace.turn() },
        );
    },
  };
}
