import { nextTurn } from "../../lib/schedule/next-turn.ts";

/**
 * After a piece smaller than this the next is asked for in another turn of the event loop. While somebody waits, each
 * chunk of a chunked body is handed over by itself, for 2 µs on Bun and 50 on Deno, whatever its size, and nothing else
 * gets its turn; what comes meanwhile Bun joins, and Deno leaves with the client. Many bodies come so at once.
 */
const SMALL_PIECE_BYTES = 4096;

/** The stream's pieces; whoever stops asking, or gives up while waiting, cancels the stream. */
export async function* piecesUntil(
  stream: ReadableStream<Uint8Array>,
  givenUp: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const cancel = () => reader.cancel().catch(() => undefined); // The connection may be gone by now.
  givenUp.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      if (value.length < SMALL_PIECE_BYTES) await nextTurn();
    }
  } finally {
    givenUp.removeEventListener("abort", cancel);
    await cancel();
  }
}
