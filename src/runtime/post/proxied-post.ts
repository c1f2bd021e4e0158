import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import { ANSWER_BYTES_MAX, ANSWER_MS_MAX, POST_MS_MAX, type Post, type PostAnswer } from "./post.ts";

/* Requests through a proxy of the operator, which looks names up and decides where they may lead. */

/** The part of Deno used here, declared because its own types would clash with Bun's. */
declare const Deno: {
  createHttpClient(options: { readonly proxy: { readonly url: string } }): object;
};

/** What `fetch` of each runtime takes to use a proxy. */
function proxyOptions(proxy: string): object {
  return "Deno" in globalThis ? { client: Deno.createHttpClient({ proxy: { url: proxy } }) } : { proxy };
}

export function createProxiedPost(proxy: string, timers: Timers = systemTimers): Post {
  const options = proxyOptions(proxy);
  return async function post({ url, headers, body, signal }) {
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    const cancel = timers.after(POST_MS_MAX, end);
    try {
      const sending = { method: "POST", headers, body, redirect: "manual", signal: ending.signal } as const;
      return await readAnswer(await fetch(url, { ...sending, ...options }), ending, timers);
    } catch {
      const isLate = ending.signal.aborted && !signal.aborted;
      const reason = isLate
        ? `no answer within ${POST_MS_MAX / 1000} seconds`
        : "the request through the proxy failed";
      return { kind: "failed", reason };
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
    }
  };
}

/** Reads as much of the answer as is kept. Its status counts even if the rest is late or breaks off. */
async function readAnswer(response: Response, ending: AbortController, timers: Timers): Promise<PostAnswer> {
  const { status, headers } = response;
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  const cancel = timers.after(ANSWER_MS_MAX, () => ending.abort());
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk.subarray(0, ANSWER_BYTES_MAX - size), { stream: true });
      size += chunk.length;
      if (size >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // It broke off, or took too long.
  } finally {
    cancel();
  }
  return { kind: "answered", status, retryAfter: headers.get("retry-after"), body: text };
}
