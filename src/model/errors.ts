/** Every error that a caller may get from a service, each with the values for its message. */
export type ServiceError =
  | { readonly kind: "invalid_parameter"; readonly message: string }
  | { readonly kind: "invalid_timezone"; readonly supplied: string }
  | { readonly kind: "invalid_user_id"; readonly message: string }
  | { readonly kind: "device_not_found"; readonly deviceId: string }
  | { readonly kind: "profile_not_found" }
  /** The profiles of an app may have this many bytes. */
  | { readonly kind: "too_many_profiles"; readonly bytesMax: number }
  | { readonly kind: "fence_not_found" }
  | { readonly kind: "alert_not_found" }
  /** `what` is the bound of an app, such as "1,000 alerts". */
  | { readonly kind: "too_many_watches"; readonly what: string }
  /** A fence would be one more than `countMax` whose boxes cover this place. */
  | {
      readonly kind: "fences_overlap";
      /** Null if the fence has none. */
      readonly name: string | null;
      readonly latitude: number;
      readonly longitude: number;
      readonly countMax: number;
    }
  | { readonly kind: "webhook_not_found" }
  | { readonly kind: "event_not_found" }
  /** `owner` has that many webhooks: "an app", or "a server". */
  | { readonly kind: "too_many_webhooks"; readonly owner: string; readonly countMax: number }
  | { readonly kind: "correction_not_found" }
  /** A correction would show a record where the device has one. */
  | { readonly kind: "record_exists"; readonly deviceId: string; readonly timestampMs: number }
  /** Undoing waits for these later corrections of the same records. */
  | { readonly kind: "corrected_later"; readonly ids: readonly string[] }
  /** An erasure would take only a part of these corrections' records, or records that are not the subject's. */
  | { readonly kind: "corrections_in_the_way"; readonly ids: readonly string[] }
  /** The device shows as another, or in another user, since a correction. */
  | {
      readonly kind: "device_assigned";
      readonly deviceId: string;
      readonly toId: string;
      readonly userId: string | null;
      readonly correctionId: string;
    }
  /** Two devices, of which the first is to show as the second, have records of the same times. */
  | {
      readonly kind: "records_exist";
      readonly deviceId: string;
      readonly toId: string;
      /** The first of these times. */
      readonly timestampMs: readonly number[];
      readonly hasMore: boolean;
    }
  /** Another body came with the same Idempotency-Key. */
  | { readonly kind: "idempotency_key_used" }
  | { readonly kind: "erasure_not_found" }
  | { readonly kind: "entry_not_found" }
  | { readonly kind: "tile_not_found"; readonly message: string }
  | { readonly kind: "not_a_node" }
  | { readonly kind: "another_node" }
  /** A seal has replaced the file, or it is lost. */
  | { readonly kind: "copied_file_gone" }
  | { readonly kind: "body_unreadable"; readonly message: string }
  /** The body ended early or took too long; a repetition may succeed. */
  | { readonly kind: "body_incomplete"; readonly message: string }
  | { readonly kind: "body_too_large"; readonly message: string }
  | { readonly kind: "media_type_unsupported"; readonly message: string }
  /** Names of UTC days whose archive lacks data that the answer needs. */
  | { readonly kind: "archive_damaged"; readonly days: readonly string[] }
  | { readonly kind: "unavailable"; readonly message: string; readonly retryAfterSeconds: number };

/** An error that may be gone after `retryAfterSeconds`. */
export function unavailable(message: string, retryAfterSeconds: number): ServiceError {
  return { kind: "unavailable", message, retryAfterSeconds };
}
