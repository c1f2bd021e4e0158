import { ACCURACY, compareFixes, IS_OF_FIX, LATITUDE, LONGITUDE, MOCK } from "../../model/fix.ts";
import { ANONYMOUS } from "../../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, profileIndex, STATE_FIELDS } from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";

// The rule of `model/fix.ts` for one late row over one archived record, as `archive/overlay-sql.ts` has it for tables.

/** The values of a record: NaN or null for those that it lacks. */
export interface RecordValues {
  readonly numbers: Float64Array;
  readonly profile: (string | null)[];
  readonly state: (string | null)[];
}

/** Rows of a batch whose fixes are laid over a record one after the other. */
export interface FixRows {
  readonly batch: ReportBatch;
  readonly rows: readonly number[];
}

const USER = profileIndex("user_id");

/** A row that lies over no record. */
export function valuesOf(batch: ReportBatch, row: number): RecordValues {
  const values = {
    numbers: Float64Array.from(batch.numbers, (column) => column[row]!),
    profile: PROFILE_FIELDS.map((_field, member) => profileText(batch, row, member)),
    state: STATE_FIELDS.map((_field, member) => stateText(batch, row, member)),
  };
  values.profile[USER] ??= ANONYMOUS;
  return values;
}

/** Lays a row over a record, which it changes: with its own fix, or with several instead. */
export function layOver(
  record: RecordValues,
  batch: ReportBatch,
  row: number,
  fixes: FixRows | null,
): RecordValues {
  const { numbers, profile, state } = record;
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = batch.numbers[field]![row]!;
    if (!IS_OF_FIX[field] && !Number.isNaN(value)) numbers[field] = value;
  }
  for (let member = 0; member < PROFILE_FIELDS.length; member++)
    profile[member] = profileText(batch, row, member) ?? profile[member]!;
  profile[USER] ??= ANONYMOUS;
  for (let member = 0; member < STATE_FIELDS.length; member++)
    if (member !== MOCK) state[member] = stateText(batch, row, member) ?? state[member]!;
  if (fixes === null) layFix(record, batch, row);
  else for (const fix of fixes.rows) layFix(record, fixes.batch, fix);
  return record;
}

function layFix({ numbers, state }: RecordValues, batch: ReportBatch, row: number): void {
  const [latitude, longitude] = [batch.numbers[LATITUDE]![row]!, batch.numbers[LONGITUDE]![row]!];
  if (Number.isNaN(latitude)) return;
  const accuracyMeters = batch.numbers[ACCURACY]![row]!;
  const below = [numbers[LATITUDE]!, numbers[LONGITUDE]!, numbers[ACCURACY]!] as const;
  const laid = compareFixes(...below, latitude, longitude, accuracyMeters);
  if (laid === "kept") return;
  const isMerged = laid === "merged";
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    if (!IS_OF_FIX[field]) continue;
    const value = batch.numbers[field]![row]!;
    if (!isMerged || (!Number.isNaN(value) && !isKept(field, value, numbers[field]!))) numbers[field] = value;
  }
  const mock = stateText(batch, row, MOCK);
  state[MOCK] = isMerged ? (mock ?? state[MOCK]!) : mock;
}

/** Whether fixes of one position keep a value: the position, since 0 may be -0, and the smaller accuracy. */
function isKept(field: number, value: number, belowValue: number): boolean {
  if (field === LATITUDE || field === LONGITUDE) return true;
  return field === ACCURACY && belowValue <= value;
}

function profileText({ texts, profiles, profile }: ReportBatch, row: number, member: number): string | null {
  return textAt(texts, profiles[profile[row]! * PROFILE_FIELDS.length + member]!);
}

function stateText({ texts, states, state }: ReportBatch, row: number, member: number): string | null {
  return textAt(texts, states[state[row]! * STATE_FIELDS.length + member]!);
}

function textAt(texts: readonly string[], index: number): string | null {
  return index === NOT_CARRIED ? null : texts[index]!;
}
