import type { WebhookSecrets } from "../../auth/webhook-secrets.ts";
import type { SharedFileError } from "../../directory/shared-file.ts";
import type { WebhookStore } from "../../hot/webhook-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { atMost, systemTimers } from "../../lib/schedule/timers.ts";
import { parseIpAddress } from "../../lib/text/ip-address.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type TargetRules, targetFault } from "../../model/webhooks/target-addresses.ts";
import {
  WEBHOOKS_MAX,
  WEBHOOKS_OF_APP_MAX,
  type Webhook,
  type WebhookState,
} from "../../model/webhooks/webhook.ts";
import type { ResolveName } from "../../runtime/post/post.ts";
import { createCorrectionId } from "../corrections/correction-id.ts";
import { Turns } from "../corrections/turns.ts";
import type { EditRequest } from "../geofences/edit-watches.ts";
import { refusalError } from "../ingest/ingest.ts";
import type { StandingAppend } from "../ingest/standing-append.ts";
import type { WebhookRequest } from "./parse-webhook.ts";

/** A webhook as it is now, and the entry of the log up to which it is that. */
export interface EditedWebhook {
  readonly webhook: Webhook;
  readonly sequence: number;
}

/** The secret is shown this once. */
export interface WebhookWithSecret extends EditedWebhook {
  readonly secret: string;
}

/** Changes the webhooks of apps. What it answers is on disk and in force. Changes of an app are made one at a time. */
export interface EditWebhooks {
  create(request: EditRequest, wanted: WebhookRequest): Promise<Result<WebhookWithSecret, ServiceError>>;
  /** Headers stay as they are if none are named. */
  replace(
    request: EditRequest,
    id: string,
    wanted: WebhookRequest,
  ): Promise<Result<EditedWebhook, ServiceError>>;
  /** A client pauses or resumes it. */
  setState(
    request: EditRequest,
    id: string,
    state: "active" | "paused",
  ): Promise<Result<EditedWebhook, ServiceError>>;
  /** Makes another secret; the one before signs, too, for this long. */
  rotate(
    request: EditRequest,
    id: string,
    overlapMs: number,
  ): Promise<Result<WebhookWithSecret, ServiceError>>;
  delete(request: EditRequest, id: string): Promise<Result<number, ServiceError>>;
  /** Their values are secrets. */
  headerNames(id: string): readonly string[];
  /** The server gives a webhook up. False if that can't be written now. */
  suspend(webhook: Webhook, state: WebhookState, reason: string): Promise<boolean>;
}

export interface EditWebhooksDependencies {
  readonly append: StandingAppend;
  readonly hot: { readonly webhooks: WebhookStore; readonly visibleSequence: number };
  readonly secrets: WebhookSecrets;
  readonly targets: TargetRules;
  readonly resolve: ResolveName;
  readonly clock: Clock;
}

export function createEditWebhooks(dependencies: EditWebhooksDependencies): EditWebhooks {
  const editor = new WebhookEditor(dependencies);
  const turns = new Turns();
  return {
    create: (request, wanted) => turns.run(request, () => editor.create(request, wanted)),
    replace: (request, id, wanted) => turns.run(request, () => editor.replace(request, id, wanted)),
    setState: (request, id, state) => turns.run(request, () => editor.setState(request, id, state)),
    rotate: (request, id, overlapMs) => turns.run(request, () => editor.rotate(request, id, overlapMs)),
    headerNames: (id) => Object.keys(dependencies.secrets.find(id)?.headers ?? {}),
    delete: (request, id) => turns.run(request, () => editor.delete(request, id)),
    async suspend(webhook, state, reason) {
      const owner = { appId: webhook.appId, keyId: "", signal: new AbortController().signal };
      const suspended = await turns.run(owner, () => editor.suspend(webhook, state, reason));
      return suspended.ok;
    },
  };
}

/** Names and values, of all webhooks of an app. The secrets of all apps share a file, which has 700 kB in a cluster. */
const HEADER_CHARACTERS_OF_APP_MAX = 65_536;

/** What the look-up of a new URL's name may take. */
const RESOLVE_MS_MAX = 5000;

class WebhookEditor {
  readonly #dependencies: EditWebhooksDependencies;

  constructor(dependencies: EditWebhooksDependencies) {
    this.#dependencies = dependencies;
  }

  async create(
    { appId, keyId, nowMs }: EditRequest,
    { draft, headers }: WebhookRequest,
  ): Promise<Result<WebhookWithSecret, ServiceError>> {
    const { hot, secrets } = this.#dependencies;
    const all = hot.webhooks;
    if (all.ofApp(appId).length >= WEBHOOKS_OF_APP_MAX)
      return fail({ kind: "too_many_webhooks", owner: "an app", countMax: WEBHOOKS_OF_APP_MAX });
    if (all.count >= WEBHOOKS_MAX)
      return fail({ kind: "too_many_webhooks", owner: "a server", countMax: WEBHOOKS_MAX });
    const fault = this.#findHeadersFault(appId, null, headers) ?? (await this.#findFault(draft.url));
    if (fault !== null) return fail(fault);
    const id = createCorrectionId(nowMs);
    const known = new Set(Array.from(all.all(), (webhook) => webhook.id));
    const secret = await secrets.create({ id, keyId, headers: headers ?? {}, nowMs }, (other) =>
      known.has(other),
    );
    if (!secret.ok) return fail(secretError(secret.error));
    const times = { createdMs: nowMs, changedMs: nowMs, stateMs: nowMs };
    const set = await this.#set({ ...draft, id, appId, keyId, ...times, state: "active", reason: null });
    return set.ok ? ok({ ...set.value, secret: secret.value }) : set;
  }

  async replace(
    { appId, nowMs }: EditRequest,
    id: string,
    { draft, headers }: WebhookRequest,
  ): Promise<Result<EditedWebhook, ServiceError>> {
    const known = this.#find(appId, id);
    if (!known.ok) return known;
    const fault = this.#findHeadersFault(appId, id, headers) ?? (await this.#findFault(draft.url));
    if (fault !== null) return fail(fault);
    if (headers !== null) {
      const set = await this.#dependencies.secrets.setHeaders(id, headers);
      if (!set.ok) return fail(secretError(set.error));
    }
    return this.#set({ ...known.value, ...draft, changedMs: laterThan(known.value, nowMs) });
  }

  async setState(
    { appId, nowMs }: EditRequest,
    id: string,
    state: "active" | "paused",
  ): Promise<Result<EditedWebhook, ServiceError>> {
    const known = this.#find(appId, id);
    if (!known.ok) return known;
    const isSame = state === "paused" && known.value.state === state;
    if (isSame) return ok({ webhook: known.value, sequence: this.#dependencies.hot.visibleSequence });
    const atMs = laterThan(known.value, nowMs);
    return this.#set({ ...known.value, state, stateMs: atMs, changedMs: atMs, reason: null });
  }

  async rotate(
    { appId, keyId, nowMs }: EditRequest,
    id: string,
    overlapMs: number,
  ): Promise<Result<WebhookWithSecret, ServiceError>> {
    const known = this.#find(appId, id);
    if (!known.ok) return known;
    const rotated = await this.#dependencies.secrets.rotate({ id, keyId, nowMs }, nowMs + overlapMs);
    if (!rotated.ok) return fail(secretError(rotated.error));
    const set = await this.#set({ ...known.value, changedMs: laterThan(known.value, nowMs) });
    return set.ok ? ok({ ...set.value, secret: rotated.value }) : set;
  }

  async delete({ appId }: EditRequest, id: string): Promise<Result<number, ServiceError>> {
    const { append, hot, secrets } = this.#dependencies;
    if (hot.webhooks.find(appId, id) === null) return fail({ kind: "webhook_not_found" });
    const appended = await append({ kind: "webhook", appId, id, webhook: null });
    if (!appended.ok) return fail(refusalError(appended.error));
    // If this fails, the secret of no webhook is left, and goes with the next one that is made.
    await secrets.remove(id);
    return ok(appended.value);
  }

  /** Does nothing if it was changed meanwhile. */
  async suspend(
    { appId, id, stateMs }: Webhook,
    state: WebhookState,
    reason: string,
  ): Promise<Result<EditedWebhook, ServiceError>> {
    const known = this.#find(appId, id);
    if (!known.ok) return known;
    if (known.value.stateMs !== stateMs) return fail({ kind: "webhook_not_found" });
    const atMs = Math.max(this.#dependencies.clock.nowMs(), stateMs + 1);
    return this.#set({ ...known.value, state, reason, stateMs: atMs });
  }

  #find(appId: AppId, id: string): Result<Webhook, ServiceError> {
    const webhook = this.#dependencies.hot.webhooks.find(appId, id);
    return webhook === null ? fail({ kind: "webhook_not_found" }) : ok(webhook);
  }

  async #set(webhook: Webhook): Promise<Result<EditedWebhook, ServiceError>> {
    const { appId, id } = webhook;
    const appended = await this.#dependencies.append({ kind: "webhook", appId, id, webhook });
    return appended.ok ? ok({ webhook, sequence: appended.value }) : fail(refusalError(appended.error));
  }

  /** Why an app may not have these headers too; `id` is the webhook whose headers they replace. */
  #findHeadersFault(
    appId: AppId,
    id: string | null,
    headers: WebhookRequest["headers"],
  ): ServiceError | null {
    if (headers === null) return null;
    const { hot, secrets } = this.#dependencies;
    const others = hot.webhooks.ofApp(appId).filter((webhook) => webhook.id !== id);
    const all = [headers, ...others.map((webhook) => secrets.find(webhook.id)?.headers ?? {})];
    const characters = all.flatMap((each) => Object.entries(each).flat()).join("").length;
    if (characters <= HEADER_CHARACTERS_OF_APP_MAX) return null;
    const max = HEADER_CHARACTERS_OF_APP_MAX.toLocaleString("en");
    const message = `headers of all webhooks of an app must have at most ${max} characters`;
    return { kind: "invalid_parameter", message };
  }

  /** Why the URL may not be used. A name that can't be looked up now is checked when it is sent to. */
  async #findFault(url: string): Promise<ServiceError | null> {
    const { targets, resolve } = this.#dependencies;
    const { protocol, hostname } = new URL(url);
    const addresses = await findAddresses(hostname, resolve);
    const faults = addresses.map((address) => targetFault(address, protocol === "https:", targets));
    if (faults.length === 0 || faults.includes(null)) return null;
    const message = `url leads to ${faults[0]}, which webhooks may not reach: the operator can allow it with --webhook-allow`;
    return { kind: "invalid_parameter", message };
  }
}

/** Each change has a time of its own. */
function laterThan({ changedMs }: Webhook, nowMs: number): number {
  return Math.max(nowMs, changedMs + 1);
}

async function findAddresses(hostname: string, resolve: ResolveName): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (parseIpAddress(literal) !== null) return [literal];
  let addresses: readonly string[] = [];
  const resolving = resolve(hostname).then(
    (all) => {
      addresses = all;
    },
    () => {}, // The name has no address now.
  );
  await atMost(systemTimers, RESOLVE_MS_MAX, resolving);
  return addresses;
}

function secretError(error: SharedFileError | "missing"): ServiceError {
  if (error === "missing") return unavailable("the webhook's secret is lost: rotate it first", 30);
  switch (error.kind) {
    case "file_damaged":
      return unavailable("webhook-secrets.json can't be used: the operator must repair it", 30);
    case "file_full":
      return unavailable("there is no room for more secrets of webhooks", 30);
    case "file_busy":
    case "cluster_unreachable":
      return unavailable("another process writes secrets of webhooks: send again shortly", 2);
  }
}
