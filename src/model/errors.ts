/** Everything that a caller can do wrong or run into, each with what its message needs. */
export type ServiceError =
  | { readonly kind: "invalid_parameter"; readonly message: string }
  | { readonly kind: "invalid_timezone"; readonly supplied: string }
  | { readonly kind: "invalid_user_id"; readonly message: string }
  | { readonly kind: "device_not_found"; readonly deviceId: string }
  | { readonly kind: "entry_not_found" }
  | { readonly kind: "tile_not_found"; readonly message: string }
  /** There is no cluster to join here. */
  | { readonly kind: "not_a_node" }
  | { readonly kind: "another_node" }
  /** A seal has put another file in its place, or it is lost. */
  | { readonly kind: "copied_file_gone" }
  | { readonly kind: "body_unreadable"; readonly message: string }
  /** It ended early, or took too long: the same may well arrive the next time. */
  | { readonly kind: "body_incomplete"; readonly message: string }
  | { readonly kind: "body_too_large"; readonly message: string }
  | { readonly kind: "media_type_unsupported"; readonly message: string }
  /** Names of UTC days whose archive lacks something the answer needs. */
  | { readonly kind: "archive_damaged"; readonly days: readonly string[] }
  | { readonly kind: "unavailable"; readonly message: string; readonly retryAfterSeconds: number };

/** It may be better in so many seconds. */
export function unavailable(message: string, retryAfterSeconds: number): ServiceError {
  return { kind: "unavailable", message, retryAfterSeconds };
}
