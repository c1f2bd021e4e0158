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

/*
 * The commands `settings list` and `settings set`.
 */

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

/** Sets a setting; begins the directory if there is none, since an import of old files needs the retention first. */
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
        if (!yes) return refuse("Nothing is changed. To do it, give the command again with --yes.", terminal);
      }
    }
    const set = await settings.setRetention(retention);
    if (!set.ok) return refuse(describeFailure(set.error), terminal);
    if (isNew) terminal.error(`${newDirectoryText(dataDir)}\n`);
    terminal.error(`The retention is ${retention.text}: ${meaningOf(firstDayOf(retention, nowMs))}.\n`);
    return 0;
  },
);

/** The first day that is kept; null if all are. */
function firstDayOf(retention: Retention, nowMs: number): string | null {
  return retention.text === "forever" ? null : utcDayName(utcDayOf(retention.startMs(nowMs)));
}

function meaningOf(firstDay: string | null): string {
  return firstDay === null ? "records are kept for ever" : `records are kept from ${firstDay} on (UTC)`;
}

function describeLoss(
  { days, oldestDay, records, devices }: Loss,
  before: Retention,
  after: Retention,
): string {
  const what = `${countOf(records, "record")} of ${countOf(days, "day")}, from ${oldestDay} on`;
  const whose =
    devices === 0 ? "" : `, and with them ${countOf(devices, "device")} that reported nothing since`;
  return `From ${before.text} to ${after.text}, these go: ${what}${whose}.
Answers show them no more at once; their files are deleted a day later, with a seal.`;
}

function describeFailure(error: SharedFileError | SettingsChanged): string {
  if (error.kind !== "changed") return describeSharedFileError(error, "The settings");
  return `Meanwhile the retention was set to ${error.text}. Nothing is changed; give the command again.`;
}
