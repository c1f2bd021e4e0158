import { parentPort, workerData } from "node:worker_threads";
import { type Connection, type DatabaseOptions, openDatabase } from "../../../duckdb/database.ts";
import { assert } from "../../../lib/assert.ts";
import { messageOf } from "../../../lib/message-of.ts";
import { fail, ok } from "../../../lib/result.ts";
import { isOutOfDescriptors } from "../../../runtime/files.ts";
import { lowerThreadPriority } from "../../../runtime/threads/priority.ts";
import { createInlineRowEncoder } from "../row-encoder.ts";
import type { Answer, Message, Request, Value } from "./messages.ts";

/* The thread that makes parts: it encodes rows, and DuckDB's statements run on it too, a piece a turn. */

assert(parentPort !== null, "the thread that makes parts was started as one");
const port = parentPort;
const encoder = createInlineRowEncoder();
/** Opened with the first connection. */
let opening: ReturnType<typeof openDatabase> | null = null;
const connections = new Map<number, Connection>();
/** Requests under way, and what breaks off a statement among them. */
const running = new Map<number, { readonly ended: Promise<void>; readonly interrupt: AbortController }>();

const reason = lowerThreadPriority();
if (reason !== null)
  tell({ kind: "note", note: `Seals hold up requests more than they need to: ${reason}.` });

port.on("message", (message: Message) => {
  switch (message.kind) {
    case "request": {
      const interrupt = new AbortController();
      const ended = answer(message.id, message.request, interrupt.signal);
      running.set(message.id, { ended, interrupt });
      break;
    }
    case "interrupt":
      running.get(message.id)?.interrupt.abort();
      break;
    case "disconnect":
      connections.get(message.connection)?.close();
      connections.delete(message.connection);
      break;
    case "close":
      void close();
  }
});

function tell(answer: Answer, moved: ArrayBuffer[] = []): void {
  port.postMessage(answer, moved);
}

async function answer(id: number, request: Request, signal: AbortSignal): Promise<void> {
  try {
    const value = await perform(request, signal);
    tell({ kind: "answer", id, result: ok(value) }, value instanceof Uint8Array ? [value.buffer] : []);
  } catch (error) {
    const fault = { message: messageOf(error), isOutOfDescriptors: isOutOfDescriptors(error) };
    tell({ kind: "answer", id, result: fail(fault) });
  } finally {
    running.delete(id);
  }
}

async function perform(request: Request, signal: AbortSignal): Promise<Value> {
  switch (request.kind) {
    case "encode":
      return (await encoder.encode(request.appId, request.batch)) as Uint8Array<ArrayBuffer>;
    case "connect":
      opening ??= openDatabase(workerData as DatabaseOptions);
      connections.set(request.connection, await (await opening).connect());
      return null;
    case "run": {
      const connection = connections.get(request.connection);
      assert(connection !== undefined, "statements run on a connection that is open");
      return (await connection.run(request.sql, undefined, signal)).columns();
    }
  }
}

/** Ended without this, a thread would leave what its database holds behind. */
async function close(): Promise<void> {
  for (const { interrupt } of running.values()) interrupt.abort();
  await Promise.all([...running.values()].map(({ ended }) => ended));
  for (const connection of connections.values()) connection.close();
  if (opening !== null)
    await opening.then(
      (database) => database.close(),
      () => undefined,
    ); // Who asked knows why.
  tell({ kind: "closed" });
}
