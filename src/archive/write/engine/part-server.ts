import { assert } from "../../../lib/assert.ts";
import { messageOf } from "../../../lib/message-of.ts";
import { fail, ok } from "../../../lib/result.ts";
import { systemTimers, type Timers } from "../../../lib/schedule/timers.ts";
import { FileError, type Files } from "../../../runtime/files.ts";
import type { HelperPort } from "../../../runtime/helper/helper.ts";
import { Pulse } from "../../../runtime/helper/pulse.ts";
import { openDatabase } from "../../duckdb/database.ts";
import { STAGED_FORMAT } from "../staged-rows.ts";
import {
  type Fault,
  type Message,
  type NumberedRequest,
  type Request,
  type Value,
  WORKING,
} from "./messages.ts";
import { createPartEngine, type PartConnection, type PartEngine, type RowsFile } from "./part-engine.ts";

/** Answers the requests of a `PartProcess` at the other end of the port, with an engine of its own. */
export function servePartEngine(port: HelperPort, files: Files, timers: Timers = systemTimers): void {
  const requests = new PartRequests(files);
  const pulse = new Pulse(port.work, timers, () => port.send(WORKING satisfies Message));
  port.onMessage(async (message) => {
    const { id, request } = message as NumberedRequest;
    pulse.beginAnew();
    port.send((await answerOf(id, requests.perform(request))) satisfies Message);
  });
}

async function answerOf(id: number, work: Promise<Value>): Promise<Message> {
  try {
    return { id, result: ok(await work) };
  } catch (error) {
    return { id, result: fail(faultOf(error)) };
  }
}

function faultOf(error: unknown): Fault {
  const disk =
    error instanceof FileError ? { operation: error.operation, path: error.path, code: error.code } : null;
  return { message: messageOf(error), disk };
}

class PartRequests {
  readonly #files: Files;
  #engine: PartEngine | null = null;
  readonly #rows = new Map<number, RowsFile>();
  readonly #connections = new Map<number, PartConnection>();

  constructor(files: Files) {
    this.#files = files;
  }

  async perform(request: Request): Promise<Value> {
    switch (request.kind) {
      case "open":
        this.#engine = createPartEngine(this.#files, await openDatabase(request.database));
        return STAGED_FORMAT;
      case "open rows":
        this.#rows.set(request.file, await this.#opened().openRows(request.path));
        return null;
      case "append":
        await this.#rowsOf(request.file).append(request.appId, request.batch);
        return null;
      case "close rows": {
        const rows = this.#rowsOf(request.file);
        this.#rows.delete(request.file);
        await rows.close();
        return null;
      }
      case "connect":
        this.#connections.set(request.connection, await this.#opened().connect());
        return null;
      case "disconnect":
        this.#connectionOf(request.connection).close();
        this.#connections.delete(request.connection);
        return null;
      case "run":
        await this.#connectionOf(request.connection).run(request.sql, request.values);
        return null;
      case "numbers":
        return this.#connectionOf(request.connection).numbers(request.sql, request.values);
      case "counts":
        return this.#connectionOf(request.connection).counts(request.sql, request.values);
    }
  }

  #opened(): PartEngine {
    assert(this.#engine !== null, "the database is opened first");
    return this.#engine;
  }

  #rowsOf(file: number): RowsFile {
    const rows = this.#rows.get(file);
    assert(rows !== undefined, "rows go to a file that is open");
    return rows;
  }

  #connectionOf(id: number): PartConnection {
    const connection = this.#connections.get(id);
    assert(connection !== undefined, "statements run on a connection that is open");
    return connection;
  }
}
