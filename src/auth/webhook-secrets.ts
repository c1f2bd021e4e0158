import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "../directory/shared-file.ts";
import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { createWebhookSecret, isWebhookSecret } from "../model/webhooks/signing.ts";

/** What signs and accompanies the requests of a webhook. Only the file's owner may read it. */
export interface WebhookSecret {
  readonly secret: string;
  /** The secret before, which signs too until then. */
  readonly former: { readonly secret: string; readonly untilMs: number } | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly madeMs: number;
  /** The key that made the webhook. */
  readonly keyId: string;
  /** Whether that key was revoked together with its webhooks, which then end. */
  readonly isRevoked: boolean;
}

export interface NewWebhookSecret extends Pick<WebhookSecret, "keyId" | "headers"> {
  readonly id: string;
  readonly nowMs: number;
}

type SecretsById = ReadonlyMap<string, WebhookSecret>;

const SECRETS_FILE: FileFormat<SecretsById> = {
  empty: new Map(),
  encode: encodeWebhookSecrets,
  parse: parseWebhookSecrets,
};

/** A webhook whose making did not come to its end leaves its secret; that of others may be on its way. */
const LEFT_MS_MIN = 3_600_000;

/** The secrets of a data directory's webhooks, by their ids, in a file of their own beside the keys. */
export class WebhookSecrets {
  readonly #file: SharedFile<SecretsById>;

  private constructor(file: SharedFile<SecretsById>) {
    this.#file = file;
  }

  static async open(dependencies: SharedFileDependencies): Promise<WebhookSecrets> {
    return new WebhookSecrets(await SharedFile.open(dependencies, SECRETS_FILE));
  }

  /** While the file can't be used, nothing can be signed. */
  get state(): SharedFileState {
    return this.#file.state;
  }

  find(id: string): WebhookSecret | null {
    return this.#file.value.get(id) ?? null;
  }

  /** Like `find()`, also if another process, or node of a cluster, has changed it just now. */
  async findNew(id: string): Promise<WebhookSecret | null> {
    await this.#file.refresh();
    return this.find(id);
  }

  /** Makes the secret of a new webhook. Secrets of webhooks that do not exist are left out. */
  async create(
    { id, keyId, headers, nowMs }: NewWebhookSecret,
    exists: (id: string) => boolean,
  ): Promise<Result<string, SharedFileError>> {
    const secret = createWebhookSecret();
    return this.#file.change<string, never>((before) => {
      const staying = [...before].filter(
        ([known, { madeMs }]) => exists(known) || madeMs > nowMs - LEFT_MS_MIN,
      );
      const record = { secret, former: null, headers, madeMs: nowMs, keyId, isRevoked: false };
      const value = new Map([...staying, [id, record] as const]);
      return ok({ value, answer: secret });
    }, true);
  }

  setHeaders(
    id: string,
    headers: WebhookSecret["headers"],
  ): Promise<Result<void, SharedFileError | "missing">> {
    return this.#file.change<void, "missing">((before) => {
      const record = before.get(id);
      if (record === undefined) return fail("missing");
      return ok({ value: new Map(before).set(id, { ...record, headers }), answer: undefined });
    }, true);
  }

  /** Makes another secret, also if the file was lost. Until the instant, the one before signs, too. */
  rotate(
    { id, keyId, nowMs }: Omit<NewWebhookSecret, "headers">,
    untilMs: number,
  ): Promise<Result<string, SharedFileError>> {
    const secret = createWebhookSecret();
    return this.#file.change<string, never>((before) => {
      const record = before.get(id);
      const former = record === undefined ? null : { secret: record.secret, untilMs };
      const rest = record ?? { headers: {}, madeMs: nowMs, keyId };
      const value = new Map(before).set(id, { ...rest, secret, former, isRevoked: false });
      return ok({ value, answer: secret });
    }, true);
  }

  /** The webhooks that the key made and that were not ended with it. */
  madeBy(keyId: string): readonly string[] {
    const all = [...this.#file.value].filter(([, record]) => record.keyId === keyId && !record.isRevoked);
    return all.map(([id]) => id);
  }

  /** Ends the webhooks that the key made; returns their ids. */
  revokeOf(keyId: string): Promise<Result<readonly string[], SharedFileError>> {
    return this.#file.change<readonly string[], never>((before) => {
      const ids = this.madeBy(keyId);
      const value = new Map(before);
      for (const id of ids) value.set(id, { ...before.get(id)!, isRevoked: true });
      return ok({ value, answer: ids });
    });
  }

  remove(id: string): Promise<Result<void, SharedFileError>> {
    return this.#file.change<void, never>((before) => {
      const value = new Map(before);
      value.delete(id);
      return ok({ value, answer: undefined });
    });
  }

  reload(): Promise<void> {
    return this.#file.reload();
  }
}

/** Those that sign at this time. */
export function secretsAt({ secret, former }: WebhookSecret, nowMs: number): readonly string[] {
  return former !== null && nowMs < former.untilMs ? [secret, former.secret] : [secret];
}

const FORMAT_VERSION = 1;

export function encodeWebhookSecrets(byId: SecretsById): Uint8Array {
  const webhooks = Object.fromEntries(byId);
  return new TextEncoder().encode(`${JSON.stringify({ version: FORMAT_VERSION, webhooks }, null, 1)}\n`);
}

/** The file's secrets, or an error text that names no secret. */
export function parseWebhookSecrets(bytes: Uint8Array): Result<SecretsById, string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { webhooks } = content.value;
  if (!isObject(webhooks)) return fail("its secrets of webhooks are missing");
  const byId = new Map<string, WebhookSecret>();
  for (const [id, value] of Object.entries(webhooks)) {
    if (!isRecord(value)) return fail(`its secret of the webhook ${JSON.stringify(id)} is not valid`);
    byId.set(id, value);
  }
  return ok(byId);
}

function isRecord(value: unknown): value is WebhookSecret {
  if (!isObject(value) || !isSecret(value.secret) || !Number.isSafeInteger(value.madeMs)) return false;
  const { former, headers, keyId, isRevoked } = value;
  if (typeof keyId !== "string" || typeof isRevoked !== "boolean") return false;
  const isFormer =
    former === null || (isObject(former) && isSecret(former.secret) && Number.isSafeInteger(former.untilMs));
  return isFormer && isObject(headers) && Object.values(headers).every((text) => typeof text === "string");
}

function isSecret(value: unknown): boolean {
  return typeof value === "string" && isWebhookSecret(value);
}
