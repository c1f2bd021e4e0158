import { servePartEngine } from "../../../../src/archive/write/engine/part-server.ts";
import { serveUpload } from "../../../../src/import/upload/serve-upload.ts";
import type { HelperEvents, StartHelper } from "../../../../src/runtime/helper/helper.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { serveExports } from "../../../../src/service/export/maker/serve-exports.ts";

/** Without a pulse, which tells a helper that works from one that stands still. */
const NO_TIMERS = { nowMs: () => 0, after: () => () => undefined };
const NO_WORK = { cpuMs: 0, diskBlocks: 0 };

/**
 * Does in this process what a helper's script does in another one, which takes longer to start than most commands take.
 * What is sent is copied, as between processes.
 */
export const startInlineHelper: StartHelper = (script, events) => {
  const port = createPort(events);
  if (script.pathname.endsWith("/part-maker.ts"))
    servePartEngine({ ...port, work: () => NO_WORK }, createNodeFiles(), NO_TIMERS);
  else if (script.pathname.endsWith("/export-maker.ts")) serveExports(port);
  else if (script.pathname.endsWith("/upload-reader.ts")) serveUpload({ ...port, residentBytes: () => 0 });
  else throw new Error(`There is no such helper: ${script}`);
  return {
    send: (message) => queueMicrotask(() => port.take(structuredClone(message))),
    end: () => void port.finish().then(() => events.onEnd("it was asked to end")),
  };
};

function createPort({ onMessage }: HelperEvents) {
  const port = {
    take: (_message: unknown) => {},
    finish: async () => {},
    send: (message: unknown) => queueMicrotask(() => onMessage(structuredClone(message))),
    onMessage(take: (message: unknown) => void) {
      port.take = take;
    },
    onEnd(finish: () => Promise<void>) {
      port.finish = finish;
    },
  };
  return port;
}
