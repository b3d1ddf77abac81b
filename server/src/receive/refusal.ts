/** Why a request is refused, for both protocols. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** HTTP status. */
  readonly status: number
  /** gRPC status (https://grpc.io/docs/guides/status-codes/). */
  readonly grpcCode: number
  /** The key under which it is counted. */
  readonly reason: string

  constructor(kind: keyof typeof KINDS, message: string) {
    super(message)
    const { status, grpcCode } = KINDS[kind]
    this.status = status
    this.grpcCode = grpcCode
    this.reason = kind
  }
}

const KINDS = {
  malformed: { status: 400, grpcCode: 3 },
  unauthenticated: { status: 401, grpcCode: 16 },
  forbidden: { status: 403, grpcCode: 7 },
  'not-found': { status: 404, grpcCode: 12 },
  'method-not-allowed': { status: 405, grpcCode: 12 },
  'timed-out': { status: 408, grpcCode: 4 },
  'too-large': { status: 413, grpcCode: 8 },
  'unsupported-type': { status: 415, grpcCode: 12 },
  unavailable: { status: 503, grpcCode: 14 },
} as const
