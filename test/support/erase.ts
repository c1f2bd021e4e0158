import type { NewestOfDevice } from "../../src/model/erasure-entry.ts";
import type { AppId, DeviceId, UserId } from "../../src/model/ids.ts";
import type { ArchiveApp } from "./archive-app.ts";
import { APP_ID } from "./test-app.ts";
import { until } from "./until.ts";

/** Appends the erasure of a device or a user, and waits until memory has applied it. Returns its entry of the log. */
export async function eraseFrom(
  { directory }: Pick<ArchiveApp, "directory">,
  subject: {
    readonly deviceId?: string;
    readonly userId?: string;
    readonly startMs?: number;
    readonly endMs?: number;
    readonly block?: boolean;
    readonly previous?: number;
    readonly newest?: readonly NewestOfDevice[];
  },
): Promise<number> {
  const { log, hot } = directory;
  const appId = APP_ID as AppId;
  const { deviceId, userId = null } = subject;
  const { startMs = Number.NEGATIVE_INFINITY, endMs = Number.POSITIVE_INFINITY } = subject;
  const appended = await log.appendStanding({
    kind: "erasure",
    appId,
    previous: subject.previous ?? hot.corrections.find(appId)?.number ?? 0,
    erasure: {
      ...{
        id: "erasure-1",
        block: subject.block === true,
        createdMs: 0,
        createdBy: "key",
        continues: false,
        appId,
      },
      deviceIds: deviceId === undefined ? [] : [deviceId as DeviceId],
      userId: userId as UserId | null,
      range: { startMs, endMs },
    },
    newest: subject.newest ?? [],
    corrections: [],
  });
  if (!appended.ok) throw new Error(`The erasure was refused: ${appended.error.kind}`);
  await until(() => hot.appliedSequence >= appended.value);
  return appended.value;
}
