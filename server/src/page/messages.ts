import type { NewRecord } from '../log/span-log.ts'
import type { RecordLimits } from '../receive/read-request.ts'
import type { Retention } from './store/run-writer.ts'

/** What the thread that takes spans in sends to the thread of the page. */
export type ToPage =
  | ({ readonly kind: 'record' } & Omit<NewRecord, 'decoded'>)
  | {
      readonly kind: 'settled'
      readonly traceId: string
      readonly spanIds: readonly string[]
      readonly lacksSpans: boolean
      /** Runs that are put before the scorers, and how many spans each has. */
      readonly revisions: Readonly<Record<string, number>>
    }
  | {
      readonly kind: 'score'
      readonly runId: string
      readonly scoreKey: string
      /** An `Evaluation`, as JSON. */
      readonly evaluation: string
    }
  | { readonly kind: 'finished'; readonly traceId: string; readonly spanIds: readonly string[] }

/** What goes to the page in one message. */
export type PageBatch =
  | { readonly kind: 'batch'; readonly items: readonly ToPage[]; readonly bytes: number; readonly left: number }
  | { readonly kind: 'address'; readonly otlpUrl: string }
  /** Sent every second: the thread that takes spans in runs. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'stop' }

/** What the thread of the page answers. */
export type FromPage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'taken'; readonly bytes: number }
  | { readonly kind: 'trouble'; readonly message: string }
  | { readonly kind: 'stopped' }

/** How the page is set up. */
export interface PageOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Names under which the page is reached, beside the loopback ones. */
  readonly allowedHosts: readonly string[]
  readonly retention: Retention
  /** Base of a Jaeger UI, such as `http://localhost:16686`. */
  readonly jaegerUrl?: string | undefined
}

/** What the thread of the page starts with. */
export interface PageWorkerData {
  readonly options: PageOptions
  readonly folder: string
  readonly token: string
  readonly limits: RecordLimits
  readonly configPath: string | undefined
}
