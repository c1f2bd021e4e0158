import type { SharedFileError } from "../../directory/shared-file.ts";

/** Why a file that is shared with the server was not changed. `whose` says what is in it: the keys. */
export function describeSharedFileError(error: SharedFileError, whose: string): string {
  switch (error.kind) {
    case "file_damaged":
      return `${error.file} can't be used: ${error.reason}. It is left as it is.`;
    case "cluster_unreachable":
      return `The cluster can't be reached: ${withoutStop(error.reason)}. ${whose} ${error.mayBeWritten ? MAYBE : "are not changed; try again."}`;
    case "file_full":
      return `${whose} take as much as the servers of the cluster let one value have. Nothing was added: give them a larger max_payload, or revoke some.`;
    case "file_busy": {
      const { owner } = error;
      const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
      return `${whose} are being changed by ${holder}; try again.`;
    }
  }
}

const MAYBE = "may be changed or not: look before you try again.";

function withoutStop(text: string): string {
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
