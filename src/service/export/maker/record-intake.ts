import { VALUE_COLUMNS } from "../../../archive/columns.ts";
import type { Connection } from "../../../archive/duckdb/database.ts";
import type { UpperRows } from "../../../archive/overlay-sql.ts";
import type { AllRecords } from "../../../archive/read/all-records.ts";
import { addLateRows, createEmptyLateTable, dropLateTable } from "../../../archive/read/late-tables.ts";
import type { ReportBatch, RowBatch } from "../../../model/report-batch.ts";
import type { RecordCommand } from "./messages.ts";

/** Makes a file of records that arrive in order. */
export interface RecordSink {
  /** How many records it has so far. */
  readonly records: number;
  /** Adds complete records of memory. */
  add(batch: ReportBatch): Promise<void>;
  /** Writes all added records, because a read follows whose records come after them. */
  flush(): Promise<void>;
  /** Adds records of the archive, and of the table of late rows if there is one. */
  read(connection: Connection, request: AllRecords): Promise<void>;
  /** Resolves with a file of the records, or null if they were sent. */
  end(): Promise<string | null>;
}

const HIDDEN_TABLE = "hidden_keys";
const ALL_COLUMNS = VALUE_COLUMNS.map(({ name }) => name);

/** Runs the commands of an export's owner that are about records. */
export class RecordIntake {
  readonly #sink: RecordSink;
  readonly #order: "time" | "device";
  readonly #connect: () => Promise<Connection>;
  readonly #signal: AbortSignal;
  #late: UpperRows | null = null;
  #hidden: UpperRows | null = null;

  /** Opens the connection with the first read; records of memory need none. */
  constructor(
    sink: RecordSink,
    order: "time" | "device",
    connect: () => Promise<Connection>,
    signal: AbortSignal,
  ) {
    this.#sink = sink;
    this.#order = order;
    this.#connect = connect;
    this.#signal = signal;
  }

  /** How many records the export has so far. */
  get records(): number {
    return this.#sink.records;
  }

  /** Resolves with the result of the sink's `end`. */
  async run(command: RecordCommand): Promise<string | null> {
    switch (command.kind) {
      case "late":
        await this.#sink.flush();
        await this.#addLate(command.batch);
        return null;
      case "hidden":
        await this.#addHidden(command.batch);
        return null;
      case "records":
        await this.#sink.add(command.batch);
        return null;
      case "read":
        await this.#sink.flush();
        try {
          const own = {
            order: this.#order,
            late: this.#late,
            hidden: this.#hidden?.rows ?? null,
            behind: null,
          };
          await this.#sink.read(await this.#connect(), { ...command.request, ...own });
          return null;
        } finally {
          await this.#dropTables();
        }
      case "discard":
        await this.#dropTables();
        return null;
      case "end":
        return this.#sink.end();
    }
  }

  async #addLate(batch: RowBatch): Promise<void> {
    const connection = await this.#connect();
    this.#late ??= await createEmptyLateTable(connection, this.#signal);
    this.#late = await addLateRows(connection, batch, ALL_COLUMNS, this.#late, this.#signal);
  }

  async #addHidden(batch: RowBatch): Promise<void> {
    const connection = await this.#connect();
    this.#hidden ??= await createEmptyLateTable(connection, this.#signal, HIDDEN_TABLE);
    await addLateRows(connection, batch, [], this.#hidden, this.#signal);
  }

  async #dropTables(): Promise<void> {
    if (this.#late !== null) await dropLateTable(await this.#connect());
    this.#late = null;
    if (this.#hidden !== null) await dropLateTable(await this.#connect(), HIDDEN_TABLE);
    this.#hidden = null;
  }
}
