import type { SharedFileError } from "../directory/shared-file.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { Semaphore } from "../lib/schedule/semaphore.ts";
import type { KeyRecord, Permission } from "./key-file.ts";
import type { KeySpec, KeyStore, MakingError, NewKey, UnknownKeyError } from "./key-store.ts";
import type { ViewSpec } from "./view.ts";

/** What the new key is for: a phone reports as one device, a link shows some devices. */
export type MadeKeyPlan =
  | { readonly kind: "phone"; readonly label: string; readonly deviceId: string }
  | { readonly kind: "share"; readonly label: string; readonly view: ViewSpec; readonly expiresMs: number };

/** Why a key may not create another. */
export type MakingRefusal =
  | { readonly kind: "permission_missing"; readonly permission: Permission }
  | { readonly kind: "key_bound" }
  | { readonly kind: "key_outlived" };

/** Plans a key of the maker's app that may do less than the maker and lasts no longer; or says why that is refused. */
export function planMadeKey(maker: KeyRecord, plan: MadeKeyPlan): Result<KeySpec, MakingRefusal> {
  const { appId, permissions, deviceId, userId, expiresMs } = maker;
  const needed = plan.kind === "phone" ? "write" : "read";
  if (!permissions.includes(needed)) return fail({ kind: "permission_missing", permission: needed });
  // Neither a phone nor a link needs unlimited requests.
  const tier = maker.tier === "unlimited" ? "standard" : maker.tier;
  const common = { appId, tier, label: plan.label };
  if (plan.kind === "share") {
    if (expiresMs !== null && plan.expiresMs > expiresMs) return fail({ kind: "key_outlived" });
    const { view } = plan;
    const linkTerms = { view, expiresMs: plan.expiresMs };
    return ok({ ...common, permissions: ["view"], ...linkTerms, deviceId: null, userId: null });
  }
  if (deviceId !== null && deviceId !== plan.deviceId) return fail({ kind: "key_bound" });
  return ok({ ...common, permissions: ["write"], view: null, deviceId: plan.deviceId, userId, expiresMs });
}

/** Another process may lock the file for seconds. Requests that come meanwhile wait, and apps take turns. */
const WAITING_MAX = 64;

/** The keys created on the map page: lists, creates and revokes those of a maker. */
export class MadeKeys {
  readonly #keys: Pick<KeyStore, "list" | "make" | "revoke">;
  readonly #turns = new Semaphore(1, { waitingMax: WAITING_MAX });
  /** The last change that failed because the cluster was unreachable, and when it failed. */
  #unreached: { readonly error: UnreachedError; readonly atMs: number } | null = null;

  constructor(keys: Pick<KeyStore, "list" | "make" | "revoke">) {
    this.#keys = keys;
  }

  /** In order of creation. Includes ended keys. */
  listOf(maker: KeyRecord): readonly KeyRecord[] {
    return this.#keys.list().filter(({ makerId }) => makerId === maker.id);
  }

  make(maker: KeyRecord, spec: KeySpec): Promise<Result<NewKey, SharedFileError | MakingError>> {
    return this.#inTurn(maker, () => this.#keys.make(maker.id, spec));
  }

  /** Revokes a key that this maker created, and no other. */
  async revoke(maker: KeyRecord, id: string): Promise<Result<KeyRecord, SharedFileError | UnknownKeyError>> {
    if (!this.listOf(maker).some((key) => key.id === id)) return fail({ kind: "key_not_found", id });
    return this.#inTurn(maker, () => this.#keys.revoke(id));
  }

  async #inTurn<Value, Refusal extends { readonly kind: string }>(
    { appId }: KeyRecord,
    change: () => Promise<Result<Value, Refusal | SharedFileError>>,
  ): Promise<Result<Value, Refusal | SharedFileError>> {
    const startMs = performance.now();
    if ((await this.#turns.enter(appId)) === "refused") return BUSY;
    try {
      // A request that waited behind the failed one would wait as long for the same servers, and the next twice as
      // long.
      if (this.#unreached !== null && this.#unreached.atMs >= startMs) return fail(this.#unreached.error);
      const changed = await change();
      if (!changed.ok && isUnreached(changed.error))
        this.#unreached = { error: { ...changed.error, mayBeWritten: false }, atMs: performance.now() };
      return changed;
    } finally {
      this.#turns.leave(appId);
    }
  }
}

type UnreachedError = Extract<SharedFileError, { kind: "cluster_unreachable" }>;

function isUnreached(error: { readonly kind: string }): error is UnreachedError {
  return error.kind === "cluster_unreachable";
}

const BUSY = fail({ kind: "file_busy", owner: null } as const);
