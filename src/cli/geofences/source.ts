import { readFences } from "../../formats/read/fences/fence-file.ts";
import type { FenceExtents } from "../../formats/read/fences/fence-sink.ts";
import { type FenceFeature, presentFence } from "../../geofences/present.ts";
import { answerError } from "../../http/errors.ts";
import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { WatchDraft } from "../../model/watches/watch-rules.ts";
import { askForAll, fetchAnswer, type RemoteServer, refusalText } from "../../operator/remote/ask-server.ts";
import type { AppChoice } from "../arguments/app-choice.ts";
import type { CommandContext } from "../arguments/command.ts";
import { openForApp } from "../directory/open-for-app.ts";

/** A file with geofences. */
export interface FenceUpload {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly extents: FenceExtents;
  readonly isDryRun: boolean;
}

/** What a file has, and the ids of what was made of it. */
export interface FencesImported {
  readonly geofences: number;
  readonly ids: readonly string[];
}

/** The geofences of an app, wherever they are. Errors are sentences. */
export interface FenceSource {
  list(tag: string | null): Promise<Result<readonly FenceFeature[], string>>;
  import(upload: FenceUpload): Promise<Result<FencesImported, string>>;
  close(): Promise<void>;
}

const PATH = "/api/v1/geofences";

export function openSource(
  choice: AppChoice,
  command: string,
  context: CommandContext,
): Promise<Result<FenceSource, string>> {
  if (choice.kind === "server") return Promise.resolve(ok(serverSource(choice)));
  return openDirectorySource(choice, command, context);
}

function serverSource(server: RemoteServer): FenceSource {
  return {
    async list(tag) {
      const rows = await askForAll(server, { path: PATH, parameters: { tag }, member: "geofences" }, fetch);
      return rows.ok ? ok(rows.value as readonly FenceFeature[]) : rows;
    },
    async import({ bytes, extents: { radiusMeters, bufferMeters }, isDryRun }) {
      const query = `dry_run=${isDryRun}&radius_meters=${radiusMeters}&buffer_meters=${bufferMeters}`;
      const headers = { "content-type": "application/octet-stream" };
      const answer = await fetchAnswer(server, `${PATH}/import?${query}`, fetch, {
        ...{ method: "POST", body: bytes, headers },
      });
      if (!answer.ok) return answer;
      const { status, body } = answer.value;
      if (status !== 200 || !isObject(body)) return fail(refusalText(server.url, status, body));
      return ok(body as unknown as FencesImported);
    },
    close: async () => undefined,
  };
}

/** What requests have in place of the id of a key. */
const BY_COMMAND = "command";

async function openDirectorySource(
  { dataDir, appId }: Extract<AppChoice, { kind: "directory" }>,
  command: string,
  context: CommandContext,
): Promise<Result<FenceSource, string>> {
  const opened = await openForApp(dataDir, command, context);
  if (!opened.ok) return opened;
  const { directory, signal } = opened.value;
  return ok({
    async list(tag) {
      const all = [...(directory.hot.watches.find(appId)?.existing("fence") ?? [])];
      return ok(all.filter(({ look }) => tag === null || look.tags.includes(tag)).map(presentFence));
    },
    async import({ bytes, extents, isDryRun }) {
      const drafts: WatchDraft[] = [];
      const read = await readFences(onePiece(bytes), extents, (draft) => drafts.push(draft));
      if (!read.ok) return fail(`${read.error.message}.`);
      const request = { appId, keyId: BY_COMMAND, nowMs: context.clock.nowMs(), signal };
      const imported = await directory.editWatches.import(request, drafts, isDryRun);
      if (imported.ok) return ok({ geofences: drafts.length, ids: imported.value.ids });
      return fail(`${String(answerError(imported.error).body.message)}.`);
    },
    close: () => directory.close(),
  });
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
