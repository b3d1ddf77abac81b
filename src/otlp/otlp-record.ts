/**
 * One record of an OTLP stream: a JSON value, the bytes of a protobuf message, or a place that is neither. `place` is `line N` in JSON and
 * `byte N` in protobuf.
 */
export type OtlpRecord =
  | { readonly kind: 'json'; readonly value: unknown; readonly place: string }
  | { readonly kind: 'protobuf'; readonly bytes: Uint8Array; readonly place: string }
  | { readonly kind: 'damaged'; readonly reason: string; readonly place: string }
