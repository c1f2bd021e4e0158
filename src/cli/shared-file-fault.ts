import type { SharedFileError } from "../directory/shared-file.ts";

/** Why a file that is shared with the server was not changed. `whose` says what is in it: the keys. */
export function describeSharedFileError(error: SharedFileError, whose: string): string {
  if (error.kind === "file_damaged")
    return `${error.file} can't be used: ${error.reason}. It is left as it is.`;
  const { owner } = error;
  const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
  return `${whose} are being changed by ${holder}; try again.`;
}
