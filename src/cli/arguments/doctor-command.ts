import { fail, ok, type Result } from "../../lib/result.ts";
import type { ValuesOf } from "./flag-table.ts";

/** Which server is asked, and about which devices. */
export interface DoctorCommand {
  readonly kind: "doctor";
  readonly url: string;
  readonly key: string;
  /** Null asks about all. */
  readonly deviceId: string | null;
  readonly json: boolean;
}

export function parseDoctor({ url, key, deviceId, json }: ValuesOf<"doctor">): Result<DoctorCommand, string> {
  if (key === null) return fail("doctor needs --key, or the key in WHEREHOUSE_KEY");
  return ok({ kind: "doctor", url, key, deviceId, json });
}
