import type { OpenDirectory } from "../../app/directory.ts";
import { readClusterFile } from "../../cluster/cluster-file.ts";
import { DirectoryInUseError, takeDirectory } from "../../directory/take-directory.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import { dayRange } from "../../model/time/range.ts";
import { UTC } from "../../model/time/zone.ts";
import type { Platform } from "../../runtime/platform.ts";
import { correctedDevices } from "../../service/export/export-devices.ts";
import type { ExportQuery } from "../../service/export/export-formats.ts";
import type { Export } from "../../service/export/export-job.ts";
import { expectDataDirectory, openSettings, settingsFault } from "../directory/data-directory.ts";
import { openForCommand, releasing } from "../directory/open-for-command.ts";
import type { ExportOptions } from "./command.ts";
import { createDirectoryData } from "./complete/directory-data.ts";
import { RecordMarks } from "./record-marks.ts";
import type { ExportScreen } from "./screen.ts";
import {
  ExportFailedError,
  type ExportFrom,
  type OpenExport,
  type OutputFormat,
  type WantedRecords,
} from "./source.ts";

/** The longest time that a timer can wait, since the reader of a pipe may be slow. */
const STALL_MS = 2 ** 31 - 1;

const NODE_NOTE =
  "This is the directory of a node of a cluster. Only its archive is exported; newer records are on the NATS servers. " +
  "To export all records give --url and --key of any running node.";

/** Exports from a data directory; the error is a sentence. */
export async function openDirectorySource(
  command: ExportOptions,
  { appId }: { readonly appId: AppId },
  platform: Platform,
  clock: Clock,
  screen: ExportScreen,
  signal: AbortSignal,
): Promise<Result<ExportFrom, string>> {
  await expectDataDirectory(platform.files, command.dataDir);
  if ((await readClusterFile(platform.files, command.dataDir)) !== null) {
    if (command.content === "complete") return fail(NODE_NOTE);
    screen.say(NODE_NOTE);
  }
  let directory: OpenDirectory;
  try {
    directory = await openToExport(command.dataDir, platform, clock, screen);
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    return fail(`${error.message} To export through a running server, use ${error.urlFlag} and --key.`);
  }
  const queryOf = (
    { from, to, deviceIds, originals }: WantedRecords,
    { format, options }: OutputFormat,
  ): ExportQuery => ({
    appId,
    deviceIds: deviceIds.length === 0 ? null : deviceIds,
    userId: command.userId,
    originals,
    range: dayRange(from, to, options.zone ?? UTC),
    format: format.name,
    options,
  });
  return ok({
    async listDevices(originals) {
      const visible = [...(directory.hot.findApp(appId)?.list.devices() ?? [])].flatMap((device) =>
        device === null ? [] : [device.id],
      );
      const corrected = originals ? correctedDevices(directory.hot, appId) : [];
      return ok([...new Set<DeviceId>([...visible, ...corrected])]);
    },
    async open(records, written) {
      const started = await directory.exports.start(queryOf(records, written), { signal });
      return started.ok ? ok(openExport(started.value, written, signal)) : fail(reasonOf(started.error));
    },
    data: createDirectoryData({ appId, dataDir: command.dataDir, directory, platform, clock }),
    close: () => directory.close(),
  });
}

async function openToExport(
  dataDir: string,
  platform: Platform,
  clock: Clock,
  screen: ExportScreen,
): Promise<OpenDirectory> {
  const release = await takeDirectory(dataDir, "export", platform, clock);
  const settings = await openSettings("export", dataDir, platform, clock).catch(releasing(release));
  const fault = settingsFault(settings);
  if (fault !== null) screen.say(fault);
  const directory = await openForCommand({
    dataDir,
    platform,
    startHelper: platform.startHelper,
    clock,
    retention: settings.retention,
    exportStallMs: STALL_MS,
    say: screen.say,
    onProgress: screen.onReplayed,
    release,
  });
  screen.clear();
  return directory;
}

function openExport(job: Export, { format, options }: OutputFormat, signal: AbortSignal): OpenExport {
  // A simplified export reads more records than it writes.
  const marks = options.simplifyMeters === null ? null : new RecordMarks(format.name);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of job.pieces()) {
        marks?.push(piece);
        yield piece;
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw new ExportFailedError(`${messageOf(cause)}.`, { cause });
    }
  }
  return {
    get isIncomplete() {
      return job.isIncomplete;
    },
    pieces,
    get records() {
      return marks === null ? job.records : marks.records;
    },
  };
}

function reasonOf(error: ServiceError): string {
  switch (error.kind) {
    case "device_not_found":
      return `There is no device "${error.deviceId}".`;
    case "archive_damaged":
      return `The archive has lost records of ${error.days.join(", ")}; run verify for details.`;
    case "unavailable":
      return `${error.message}.`;
    default:
      return error.kind;
  }
}
