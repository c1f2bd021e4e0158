import type { Archive } from "../../../archive/archive.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { type MaybePromise, whenThere } from "../../../lib/schedule/maybe-promise.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { TimeRange } from "../../../model/time/range.ts";
import { touchesSealed } from "./plan.ts";

/** How a range is answered by memory alone, and how where it has sealed days. */
export interface EitherStore<Value> {
  fromMemory(): MaybePromise<Value>;
  fromArchive(): Promise<Result<Value, ServiceError>>;
}

/** Answers from memory where that has every record of the range; begins anew where a seal moved some meanwhile. */
export function fromEitherStore<Value>(
  archive: () => Pick<Archive, "manifest">,
  range: TimeRange,
  store: EitherStore<Value>,
): MaybePromise<Result<Value, ServiceError>> {
  const { manifest } = archive();
  if (touchesSealed(manifest, range)) return store.fromArchive();
  const isWhole = () => archive().manifest === manifest;
  return whenThere(store.fromMemory(), (value) =>
    isWhole() ? ok(value) : fromEitherStore(archive, range, store),
  );
}
