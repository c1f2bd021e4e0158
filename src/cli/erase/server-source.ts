import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { pause, systemTimers } from "../../lib/schedule/timers.ts";
import {
  fetchAnswer,
  jsonRequest,
  type RemoteServer,
  refusalText,
} from "../../operator/remote/ask-server.ts";
import type { ErasurePreview } from "../../service/erasures/erase.ts";
import type { CommandContext } from "../arguments/command.ts";
import type { EraseOptions } from "./command.ts";
import type { EraseSource, ErasureRow, NewErasureRow } from "./source.ts";

const PATH = "/api/v1/erasures";
const ASK_MS = 1000;

/** Erasures through a running server. */
export function serverSource(
  server: RemoteServer,
  { stopSignal }: Pick<CommandContext, "stopSignal">,
): EraseSource {
  const signal = stopSignal();

  async function ask(
    path: string,
    request: Parameters<typeof fetchAnswer>[3],
  ): Promise<Result<ErasureRow, string>> {
    const answer = await fetchAnswer(server, path, fetch, request);
    if (!answer.ok) return answer;
    const { status, body } = answer.value;
    if (status !== 200 || !isObject(body)) return fail(refusalText(server.url, status, body));
    return isObject(body.erasure)
      ? ok(body.erasure)
      : fail(`${server.url} is no Wherehouse server: its answer has no erasure.`);
  }

  async function post<Row>(path: string, members: EraseOptions["members"]): Promise<Result<Row, string>> {
    const answer = await ask(path, jsonRequest("POST", members));
    return answer.ok ? ok(answer.value as Row) : answer;
  }

  return {
    preview: ({ members }) => post<ErasurePreview>(`${PATH}?dry_run=true`, members),
    create: ({ members }) => post<NewErasureRow>(PATH, members),
    async finished(id, onDaysLeft) {
      for (;;) {
        const answer = await ask(`${PATH}/${encodeURIComponent(id)}`, { method: "GET" });
        if (!answer.ok || answer.value.state === "finished") return answer;
        onDaysLeft(Number(answer.value.days_left));
        await pause(systemTimers, ASK_MS, signal);
        if (signal.aborted) return fail(`The server goes on; ask for ${PATH}/${id} later.`);
      }
    },
    close: async () => undefined,
  };
}
