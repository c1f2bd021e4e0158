import { presentCorrection } from "../../http/endpoints/corrections/shapes.ts";
import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  askForAll,
  fetchAnswer,
  jsonRequest,
  type RemoteServer,
  refusalText,
} from "../../operator/remote/ask-server.ts";
import type { AppChoice } from "../arguments/app-choice.ts";
import type { CommandContext } from "../arguments/command.ts";
import { BY_COMMAND, errorSentence, openForApp } from "../directory/open-for-app.ts";
import type { CorrectionState, CorrectionsListOptions } from "./command.ts";
import type { CorrectionsMakeOptions } from "./make-command.ts";

/** A correction as the commands show it, in the words of the API. One that was not made has no id. */
export interface CorrectionRow {
  readonly id?: string;
  readonly action: string;
  readonly device_id: string;
  readonly records: number;
  readonly first?: number;
  readonly last?: number;
  readonly created?: number;
  readonly note?: string | undefined;
  readonly state?: CorrectionState;
}

/** The corrections of an app, wherever they are. Errors are sentences. */
export interface CorrectionSource {
  /** Newest first. */
  list(
    filter: Pick<CorrectionsListOptions, "deviceId" | "state">,
  ): Promise<Result<readonly CorrectionRow[], string>>;
  make(
    request: Pick<CorrectionsMakeOptions, "members" | "wanted" | "isDryRun">,
  ): Promise<Result<CorrectionRow, string>>;
  undo(id: string): Promise<Result<CorrectionRow, string>>;
  close(): Promise<void>;
}

const PATH = "/api/v1/corrections";

export function openSource(
  choice: AppChoice,
  command: string,
  context: CommandContext,
): Promise<Result<CorrectionSource, string>> {
  if (choice.kind === "server") return Promise.resolve(ok(serverSource(choice)));
  return openDirectorySource(choice, command, context);
}

function serverSource(server: RemoteServer): CorrectionSource {
  async function ask(
    method: string,
    path: string,
    members?: CorrectionsMakeOptions["members"],
  ): Promise<Result<Readonly<Record<string, unknown>>, string>> {
    const request = members === undefined ? { method } : jsonRequest(method, members);
    const answer = await fetchAnswer(server, path, fetch, request);
    if (!answer.ok) return answer;
    const { status, body } = answer.value;
    return status === 200 && isObject(body) ? ok(body) : fail(refusalText(server.url, status, body));
  }

  async function askForOne(...request: Parameters<typeof ask>): Promise<Result<CorrectionRow, string>> {
    const answer = await ask(...request);
    if (!answer.ok) return answer;
    const { correction } = answer.value;
    return isObject(correction)
      ? ok(correction as unknown as CorrectionRow)
      : fail(`${server.url} is no Wherehouse server: its answer has no correction.`);
  }

  return {
    async list({ deviceId, state }) {
      const parameters = { device_id: deviceId, state };
      const rows = await askForAll(server, { path: PATH, parameters, member: "corrections" }, fetch);
      return rows.ok ? ok(rows.value as readonly CorrectionRow[]) : rows;
    },
    make: ({ members, isDryRun }) => askForOne("POST", isDryRun ? `${PATH}?dry_run=true` : PATH, members),
    undo: (id) => askForOne("DELETE", `${PATH}/${encodeURIComponent(id)}`),
    close: async () => undefined,
  };
}

async function openDirectorySource(
  { dataDir, appId }: Extract<AppChoice, { kind: "directory" }>,
  command: string,
  context: CommandContext,
): Promise<Result<CorrectionSource, string>> {
  const opened = await openForApp(dataDir, command, context);
  if (!opened.ok) return opened;
  const { directory, signal } = opened.value;
  const { hot, correct, close } = directory;
  return ok({
    async list({ deviceId, state }) {
      const all = hot.corrections.list(appId, deviceId, state === null ? null : state === "active");
      return ok(all.map(presentCorrection));
    },
    async make({ wanted, isDryRun }) {
      if (isDryRun) {
        const preview = await correct.preview(appId, wanted, { signal });
        if (!preview.ok) return fail(errorSentence(preview.error));
        const { records, firstMs, lastMs } = preview.value;
        const { action, deviceId } = wanted;
        return ok({
          ...{ action, device_id: deviceId, records },
          ...(firstMs === null ? {} : { first: firstMs }),
          ...(lastMs === null ? {} : { last: lastMs }),
        });
      }
      const request = { keyId: BY_COMMAND, nowMs: context.clock.nowMs(), repetition: null };
      const created = await correct.create(appId, wanted, request, { signal });
      return created.ok ? ok(presentCorrection(created.value.item)) : fail(errorSentence(created.error));
    },
    async undo(id) {
      const undone = await correct.undo(appId, id, BY_COMMAND, { signal });
      return undone.ok ? ok(presentCorrection(undone.value.item)) : fail(errorSentence(undone.error));
    },
    close,
  });
}
