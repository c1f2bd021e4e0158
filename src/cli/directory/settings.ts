import { directoryPaths } from "../../directory/paths.ts";
import type { SettingsChanged } from "../../directory/settings.ts";
import type { SharedFileError } from "../../directory/shared-file.ts";
import { DEFAULT_RETENTION, type Retention } from "../../model/time/retention.ts";
import { utcDayName, utcDayOf } from "../../model/time/utc-day.ts";
import { findLoss, type Loss } from "../../operator/verify/loss.ts";
import { describeSharedFileError, onSharedFiles } from "../cluster/node-directory.ts";
import { countOf, formatTable, refuse } from "../screen/layout.ts";
import type { SettingsListOptions, SettingsSetOptions } from "./command.ts";
import {
  expectDataDirectory,
  newDirectoryText,
  openReadingDatabase,
  openSettings,
  settingsFault,
} from "./data-directory.ts";

export const listSettings = onSharedFiles<SettingsListOptions>(
  async ({ dataDir, json }, { platform, clock, terminal }) => {
    await expectDataDirectory(platform.files, dataDir);
    const settings = await openSettings("settings list", dataDir, platform, clock);
    const fault = settingsFault(settings);
    if (fault !== null) return refuse(fault, terminal);
    const { retention } = settings;
    const firstDay = firstDayOf(retention, clock.nowMs());
    if (json)
      terminal.out(
        `${JSON.stringify({ retention: retention.text, retention_first_day: firstDay }, null, 2)}\n`,
      );
    else
      terminal.out(
        formatTable(
          ["setting", "value", "default", "means"],
          [["retention", retention.text, DEFAULT_RETENTION.text, meaningOf(firstDay)]],
        ),
      );
    return 0;
  },
);

/** Sets a setting. Creates the directory if it is missing, since an import of old files needs the retention first. */
export const setSettings = onSharedFiles<SettingsSetOptions>(
  async ({ dataDir, retention, yes }, { platform, clock, terminal }) => {
    const { files } = platform;
    const isNew = !(await files.exists(dataDir));
    const settings = await openSettings("settings set", dataDir, platform, clock);
    const fault = settingsFault(settings);
    if (fault !== null) return refuse(fault, terminal);
    const nowMs = clock.nowMs();
    const [beforeMs, afterMs] = [settings.retention.startMs(nowMs), retention.startMs(nowMs)];
    if (afterMs > beforeMs && !isNew) {
      const openDatabase = () => openReadingDatabase(dataDir);
      const paths = directoryPaths(dataDir);
      const loss = await findLoss({ files, paths, openDatabase, beforeMs, afterMs });
      if (loss.days > 0) {
        terminal.error(`${describeLoss(loss, settings.retention, retention)}\n`);
        if (!yes) return refuse("Nothing was changed. To proceed, repeat the command with --yes.", terminal);
      }
    }
    const set = await settings.setRetention(retention);
    if (!set.ok) return refuse(describeFailure(set.error), terminal);
    if (isNew) terminal.error(`${newDirectoryText(dataDir)}\n`);
    terminal.error(`The retention is ${retention.text}: ${meaningOf(firstDayOf(retention, nowMs))}.\n`);
    return 0;
  },
);

/** The first day within the retention; null if it is forever. */
function firstDayOf(retention: Retention, nowMs: number): string | null {
  return retention.text === "forever" ? null : utcDayName(utcDayOf(retention.startMs(nowMs)));
}

function meaningOf(firstDay: string | null): string {
  return firstDay === null ? "records are kept forever" : `records are kept from ${firstDay} on (UTC)`;
}

function describeLoss(
  { days, oldestDay, records, devices }: Loss,
  before: Retention,
  after: Retention,
): string {
  const what = `${countOf(records, "record")} of ${countOf(days, "day")}, from ${oldestDay} on`;
  const which = devices === 0 ? "" : `, with all records of ${countOf(devices, "device")}`;
  return `Changing the retention from ${before.text} to ${after.text} expires ${what}${which}.
They disappear from answers immediately; a seal deletes their files a day later.`;
}

function describeFailure(error: SharedFileError | SettingsChanged): string {
  if (error.kind !== "changed") return describeSharedFileError(error, "The settings");
  return `Another command has just set the retention to ${error.text}. Nothing was changed; repeat the command.`;
}
