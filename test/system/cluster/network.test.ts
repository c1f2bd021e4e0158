import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { until } from "../../support/until.ts";
import { type Link, openLink } from "./run/network.ts";

/* What stands between nodes and servers, before a program that says everything back. */

let echo: Server;
let link: Link;
const sockets: Socket[] = [];

beforeEach(async () => {
  echo = createServer((socket) => socket.pipe(socket).on("error", () => socket.destroy()));
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  link = await openLink((echo.address() as { port: number }).port);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await link.close();
  await new Promise((resolve) => echo.close(resolve));
});

/** A connection, what came by it, and whether it is over. */
function dial(port = link.port) {
  const socket = connect({ host: "127.0.0.1", port });
  sockets.push(socket);
  const state = { socket, text: "", isOver: false };
  socket.on("data", (bytes) => {
    state.text += bytes.toString();
  });
  socket.on("close", () => {
    state.isOver = true;
  });
  socket.on("error", () => undefined); // It closes then.
  return state;
}

/** More than what was said to the dead link needs to come through it, if it did. */
const ROUNDS = 10;

/** Goes there and back on a connection of its own. */
async function roundTrip({ port }: Link): Promise<void> {
  const client = dial(port);
  client.socket.write("r");
  await until(() => client.text === "r");
}

test("openLink() leads there and back", async () => {
  const client = dial();
  const text = "x".repeat(1_000_000); // More than the system holds by itself.
  client.socket.write(text);
  await until(() => client.text.length === text.length);
});

test("a dead link keeps its connections and everything that was said, and brings it once it is open again", async () => {
  const before = dial();
  before.socket.write("a");
  await until(() => before.text === "a");
  link.set("dead");
  before.socket.write("b");
  const meanwhile = dial();
  meanwhile.socket.write("c");
  const other = await openLink((echo.address() as { port: number }).port);
  for (let round = 0; round < ROUNDS; round++) await roundTrip(other);
  await other.close();
  expect([before.text, meanwhile.text, before.isOver, meanwhile.isOver]).toEqual(["a", "", false, false]);
  link.set("open");
  await until(() => before.text === "ab" && meanwhile.text === "c");
});

test("a link that is cut ends connections and takes none, until it is open again", async () => {
  const before = dial();
  before.socket.write("a");
  await until(() => before.text === "a");
  link.set("cut");
  const meanwhile = dial();
  await until(() => before.isOver && meanwhile.isOver);
  link.set("open");
  const after = dial();
  after.socket.write("d");
  await until(() => after.text === "d");
});
