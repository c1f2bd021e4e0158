import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";
import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { isOtherVersion, parseVersionedJson } from "../lib/text/versioned-json.ts";
import { type AppId, parseAppId } from "../model/ids.ts";
import { FileError, type Files, readIfThere } from "../runtime/files.ts";

// The ledger of erasures. It names subjects by salted hashes alone, so that it may be kept after what it is about has
// gone. Ids can be guessed, so a person who has the file can test a guess.

/** The device or user of an app that an erasure is about. */
export interface ErasureSubject {
  readonly kind: "device" | "user";
  readonly appId: AppId;
  readonly id: string;
}

export interface LedgerErasure {
  readonly id: string;
  readonly appId: AppId;
  readonly kind: ErasureSubject["kind"];
  /** The HMAC-SHA-256 of the subject with the ledger's salt, in hexadecimal. */
  readonly subject: string;
  /** Those of other devices that went with a device, because they showed as it. */
  readonly others: readonly string[];
  /** Infinite if the range has no bound. */
  readonly startMs: number;
  readonly endMs: number;
  /** The erasure's entry of the log. */
  readonly sequence: number;
  readonly createdMs: number;
  readonly block: boolean;
  /** Null while files may have something of the subject. */
  readonly finishedMs: number | null;
}

export interface NewLedgerErasure
  extends Omit<LedgerErasure, "appId" | "kind" | "subject" | "others" | "finishedMs"> {
  readonly subject: ErasureSubject;
  /** Ids of the other devices; none by default. */
  readonly others?: readonly string[];
}

/** What the file says. */
export interface LedgerContent {
  /** 32 bytes in hexadecimal. */
  readonly salt: string;
  readonly erasures: readonly LedgerErasure[];
}

/** A ledger that can't be read, or that another version of the program wrote, is not changed. */
export type LedgerState = "ok" | "absent" | LedgerFault;

export interface LedgerFault {
  readonly kind: "ledger_unreadable" | "ledger_of_other_version";
  readonly reason: string;
}

export interface UnknownErasure {
  readonly kind: "erasure_unknown";
  readonly id: string;
}

/** Tells which reports are refused. */
export interface Blocks {
  /** What is blocked of an app; null if nothing is, as of most apps. */
  blocked(appId: AppId): AppBlocks | null;
}

export interface AppBlocks {
  isBlocked(deviceId: string, userId: string | null): boolean;
}

/** Whether this program writes a file of this name into the folder of reports. */
export function isErasureReport(file: string): boolean {
  return file.endsWith(".json");
}

const FORMAT_VERSION = 1;
const SALT_BYTES = 32;
const HASH = /^[0-9a-f]{64}$/;
/**
 * Ids of an app with blocks that were hashed before, which takes 3 us each. A fleet has the same ones again and again;
 * this many take 10 MB.
 */
const KNOWN_IDS_MAX = 65_536;

/** The ledger of a data directory. Only the process that holds the directory's lock changes it. */
export class ErasureLedger implements Blocks {
  readonly #files: Pick<Files, "replace">;
  readonly #path: string;
  #state: LedgerState;
  #content: LedgerContent | null;
  #changing: Promise<unknown> = Promise.resolve();
  readonly #begun: ErasureSubject[] = [];
  #blocks: ReadonlyMap<AppId, BlockedSubjects>;

  private constructor(files: Pick<Files, "replace">, path: string, read: ReadLedger) {
    this.#files = files;
    this.#path = path;
    this.#state = read.state;
    this.#content = read.content;
    this.#blocks = blocksOf(read.content);
  }

  static async open(files: Pick<Files, "read" | "replace">, path: string): Promise<ErasureLedger> {
    return new ErasureLedger(files, path, await readLedger(files, path));
  }

  get state(): LedgerState {
    return this.#state;
  }

  /** In the order in which they were added; none if the ledger can't be used. */
  get erasures(): readonly LedgerErasure[] {
    return this.#content?.erasures ?? [];
  }

  /** Erasures of a subject. */
  matches(subject: ErasureSubject): readonly LedgerErasure[] {
    return this.#content === null ? [] : erasuresOf(this.#content, subject);
  }

  /** Adds an erasure, which is not finished. Adding it again changes nothing. Throws a `FileError`. */
  add(erasure: NewLedgerErasure): Promise<Result<LedgerErasure, LedgerFault>> {
    return this.#change((content) => {
      const known = content.erasures.find(({ id }) => id === erasure.id);
      if (known !== undefined) return ok({ content, answer: known });
      const { subject, ...members } = erasure;
      const { appId, kind } = subject;
      const salt = Buffer.from(content.salt, "hex");
      const others = (erasure.others ?? []).map((id) => hashOf(salt, { ...subject, id }));
      const hashes = { subject: hashOf(salt, subject), others };
      const added: LedgerErasure = { ...members, appId, kind, ...hashes, finishedMs: null };
      return ok({ content: { ...content, erasures: [...content.erasures, added] }, answer: added });
    });
  }

  /** Finishing again changes nothing. Throws a `FileError`. */
  finish(id: string, finishedMs: number): Promise<Result<LedgerErasure, LedgerFault | UnknownErasure>> {
    return this.#change<LedgerErasure, UnknownErasure>((content) => {
      const known = content.erasures.find((erasure) => erasure.id === id);
      if (known === undefined) return fail({ kind: "erasure_unknown", id });
      if (known.finishedMs !== null) return ok({ content, answer: known });
      const finished = { ...known, finishedMs };
      const erasures = content.erasures.map((erasure) => (erasure === known ? finished : erasure));
      return ok({ content: { ...content, erasures }, answer: finished });
    });
  }

  blocked(appId: AppId): AppBlocks | null {
    const stored = this.#blocks.get(appId) ?? null;
    const begun = this.#begun.filter((subject) => subject.appId === appId);
    if (begun.length === 0) return stored;
    const isBegun = (kind: ErasureSubject["kind"], id: string | null) =>
      begun.some((subject) => subject.kind === kind && subject.id === id);
    return {
      isBlocked: (deviceId, userId) =>
        stored?.isBlocked(deviceId, userId) === true ||
        isBegun("device", deviceId) ||
        isBegun("user", userId),
    };
  }

  /** Blocks a subject until the returned function is called, which is after its erasure is in here, or has failed. */
  blockMeanwhile(subject: ErasureSubject): () => void {
    this.#begun.push(subject);
    return () => void this.#begun.splice(this.#begun.indexOf(subject), 1);
  }

  /** Changes are made one after the other; one that fails leaves the ledger as it was. */
  #change<Answer, Refusal>(
    decide: (content: LedgerContent) => Result<{ content: LedgerContent; answer: Answer }, Refusal>,
  ): Promise<Result<Answer, Refusal | LedgerFault>> {
    const changed = this.#changing.then(async () => {
      if (typeof this.#state === "object") return fail(this.#state);
      const before = this.#content ?? { salt: randomBytes(SALT_BYTES).toString("hex"), erasures: [] };
      const decided = decide(before);
      if (!decided.ok) return decided;
      const { content, answer } = decided.value;
      if (content !== before) await this.#write(content);
      return ok(answer);
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #write(content: LedgerContent): Promise<void> {
    await this.#files.replace(this.#path, encodeLedger(content));
    this.#content = content;
    this.#state = "ok";
    this.#blocks = blocksOf(content);
  }
}

/** Erasures of a subject in a ledger, and those with which it went. */
export function erasuresOf({ salt, erasures }: LedgerContent, subject: ErasureSubject): LedgerErasure[] {
  const { appId, kind } = subject;
  const candidates = erasures.filter((erasure) => erasure.appId === appId && erasure.kind === kind);
  if (candidates.length === 0) return [];
  const hash = hashOf(Buffer.from(salt, "hex"), subject);
  return candidates.filter(({ subject, others }) => subject === hash || others.includes(hash));
}

function hashOf(salt: Uint8Array, { kind, appId, id }: ErasureSubject): string {
  return createHmac("sha256", salt).update(`${kind}:${appId}\0${id}`).digest("hex");
}

/** The blocked devices and users of an app. */
class BlockedSubjects implements AppBlocks {
  readonly #salt: Uint8Array;
  readonly #appId: AppId;
  readonly #hashes: Readonly<Record<ErasureSubject["kind"], ReadonlySet<string>>>;
  /** Whether ids are blocked, the least recently asked for first. */
  readonly #known = { device: new Map<string, boolean>(), user: new Map<string, boolean>() };

  constructor(salt: Uint8Array, appId: AppId, erasures: readonly LedgerErasure[]) {
    this.#salt = salt;
    this.#appId = appId;
    const hashes = (kind: ErasureSubject["kind"]) =>
      new Set(erasures.filter((erasure) => erasure.kind === kind).map(({ subject }) => subject));
    this.#hashes = { device: hashes("device"), user: hashes("user") };
  }

  isBlocked(deviceId: string, userId: string | null): boolean {
    return this.#has("device", deviceId) || (userId !== null && this.#has("user", userId));
  }

  #has(kind: ErasureSubject["kind"], id: string): boolean {
    const hashes = this.#hashes[kind];
    if (hashes.size === 0) return false;
    const known = this.#known[kind];
    const isBlocked = known.get(id) ?? hashes.has(hashOf(this.#salt, { kind, appId: this.#appId, id }));
    known.delete(id);
    known.set(id, isBlocked);
    if (known.size > KNOWN_IDS_MAX) known.delete(known.keys().next().value!);
    return isBlocked;
  }
}

function blocksOf(content: LedgerContent | null): ReadonlyMap<AppId, BlockedSubjects> {
  if (content === null) return new Map();
  const salt = Buffer.from(content.salt, "hex");
  const blocking = content.erasures.filter(({ block }) => block);
  const byApp = Map.groupBy(blocking, ({ appId }) => appId);
  return new Map([...byApp].map(([appId, erasures]) => [appId, new BlockedSubjects(salt, appId, erasures)]));
}

interface ReadLedger {
  readonly state: LedgerState;
  /** Null unless the state is `ok`. */
  readonly content: LedgerContent | null;
}

export async function readLedger(files: Pick<Files, "read">, path: string): Promise<ReadLedger> {
  try {
    const bytes = await readIfThere(files, path);
    if (bytes === null) return { state: "absent", content: null };
    const parsed = parseLedger(bytes);
    return parsed.ok ? { state: "ok", content: parsed.value } : { state: parsed.error, content: null };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { state: unreadable(error.message), content: null };
  }
}

export function encodeLedger({ salt, erasures }: LedgerContent): Uint8Array {
  const lines = erasures.map(({ appId, kind, subject, others, startMs, endMs, finishedMs, ...erasure }) => ({
    id: erasure.id,
    app: appId,
    [kind]: subject,
    ...(others.length === 0 ? {} : { others }),
    start: Number.isFinite(startMs) ? startMs : null,
    end: Number.isFinite(endMs) ? endMs : null,
    sequence: erasure.sequence,
    created: erasure.createdMs,
    block: erasure.block,
    state: finishedMs === null ? "pending" : "finished",
    finished: finishedMs,
  }));
  const json = JSON.stringify({ version: FORMAT_VERSION, salt, erasures: lines }, null, 2);
  return new TextEncoder().encode(`${json}\n`);
}

export function parseLedger(bytes: Uint8Array): Result<LedgerContent, LedgerFault> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) {
    const kind = isOtherVersion(bytes, FORMAT_VERSION) ? "ledger_of_other_version" : "ledger_unreadable";
    return fail({ kind, reason: content.error });
  }
  const { salt, erasures: lines } = content.value;
  if (typeof salt !== "string" || !HASH.test(salt)) return fail(unreadable("its salt is missing"));
  if (!Array.isArray(lines)) return fail(unreadable("its list of erasures is missing"));
  const erasures: LedgerErasure[] = [];
  const ids = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const erasure = parseErasure(line);
    if (erasure === null || ids.has(erasure.id))
      return fail(unreadable(`its erasure number ${index + 1} is not valid`));
    ids.add(erasure.id);
    erasures.push(erasure);
  }
  return ok({ salt, erasures });
}

function parseErasure(line: unknown): LedgerErasure | null {
  if (!isObject(line)) return null;
  const { id, app, device, user, others = [], sequence, created, block, state, finished } = line;
  const appId = typeof app === "string" ? parseAppId(app) : null;
  const subject = device ?? user;
  if (typeof id !== "string" || id === "" || appId === null) return null;
  if (typeof subject !== "string" || !HASH.test(subject) || (device === undefined) === (user === undefined))
    return null;
  if (!Array.isArray(others) || !others.every((hash) => typeof hash === "string" && HASH.test(hash)))
    return null;
  if (!isWhole(sequence) || !isWhole(created) || typeof block !== "boolean") return null;
  const startMs = line.start === null ? Number.NEGATIVE_INFINITY : line.start;
  const endMs = line.end === null ? Number.POSITIVE_INFINITY : line.end;
  if (typeof startMs !== "number" || typeof endMs !== "number") return null;
  if (state !== (finished === null ? "pending" : "finished") || !(finished === null || isWhole(finished)))
    return null;
  const kind = device === undefined ? "user" : "device";
  return {
    id,
    appId,
    kind,
    subject,
    others,
    startMs,
    endMs,
    sequence,
    createdMs: created,
    block,
    finishedMs: finished,
  };
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function unreadable(reason: string): LedgerFault {
  return { kind: "ledger_unreadable", reason };
}
