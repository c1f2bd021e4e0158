import { hashKey } from "../../../auth/api-key.ts";
import type { KeyRecord } from "../../../auth/key-file.ts";
import { messageOf } from "../../../lib/message-of.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { Clock } from "../../../model/time/clock.ts";
import type { Platform } from "../../../runtime/platform.ts";
import { withSharedState } from "../../cluster/node-directory.ts";
import { openKeys } from "../../keys/keys.ts";
import { type DataFault, failed, withheld } from "./personal-data.ts";

/** All keys of a data directory that the command has opened. */
export async function findKeys(
  dataDir: string,
  platform: Platform,
  clock: Clock,
): Promise<Result<readonly KeyRecord[], DataFault>> {
  const keys = await openKeys("export", dataDir, platform, clock);
  return typeof keys.state === "object"
    ? fail(failed(`keys.json can't be used: ${keys.state.damaged}.`))
    : ok(keys.list());
}

/**
 * All keys of a running server, which no endpoint lists: they are read from its data directory beside it. That is the
 * server's if it knows the key that the server accepts.
 */
export async function findServerKeys(
  dataDir: string,
  keyText: string,
  platform: Platform,
  clock: Clock,
): Promise<Result<readonly KeyRecord[], DataFault>> {
  const reason = (why: string) => fail(withheld(`keys and share links (${why})`));
  if (!(await platform.files.exists(dataDir)))
    return reason("no endpoint lists them: give the server's data directory as --data-dir");
  let keys: readonly KeyRecord[] = [];
  try {
    await withSharedState(dataDir, platform, async (shared) => {
      keys = (await openKeys("export", dataDir, shared, clock)).list();
      return 0;
    });
  } catch (error) {
    return reason(`the directory --data-dir can't be read: ${messageOf(error)}`);
  }
  const sha256 = hashKey(keyText);
  return keys.some((key) => key.sha256 === sha256)
    ? ok(keys)
    : reason(`--data-dir is "${dataDir}", which does not know --key: give the server's data directory`);
}
