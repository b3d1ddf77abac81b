import type { SourceLog } from 'spanscore/engine'

import type { Forgotten, Person } from '../person.ts'
import type { NewRecord } from '../log/span-log.ts'
import type { RecordLimits } from '../receive/read-request.ts'
import type { Retention } from './store/forgetting.ts'

/** Messages from the receiving thread to the page's thread. */
export type ToPage =
  | ({ readonly kind: 'record' } & Omit<NewRecord, 'decoded'>)
  | {
      readonly kind: 'settled'
      readonly traceId: string
      readonly spanIds: readonly string[]
      readonly lacksSpans: boolean
      /** Runs that are being scored, with their number of spans. */
      readonly revisions: Readonly<Record<string, number>>
    }
  | {
      readonly kind: 'score'
      readonly runId: string
      readonly scoreKey: string
      /** An `Evaluation`, as JSON. */
      readonly evaluation: string
    }
  | {
      readonly kind: 'conversation-score'
      /** `conversationKey` of its runs. */
      readonly key: string
      /** The id of the first run of each turn that the scorer saw. */
      readonly turns: readonly string[]
      /** An `Evaluation`, as JSON. */
      readonly evaluation: string
    }
  /** What a user or another tool says of a span. */
  | { readonly kind: 'said'; readonly log: SourceLog }
  | { readonly kind: 'finished'; readonly traceId: string; readonly spanIds: readonly string[] }

/** What this thread asks the page about forgetting, and the answer to what the page asked. */
export type AboutForgetting =
  | { readonly kind: 'find'; readonly id: number; readonly person: Person }
  | { readonly kind: 'count'; readonly id: number; readonly traceIds: readonly string[] }
  | { readonly kind: 'forget'; readonly id: number; readonly traceIds: readonly string[] }
  | { readonly kind: 'forgotten'; readonly id: number; readonly answer: Forgotten | { readonly error: string } }

/** Conversations that have no scores yet. */
export interface ConversationCounts {
  /** Those that are not over. */
  readonly openConversations: number
  /** Those that are over, and wait for their scores, such as for room in the budget of judges. */
  readonly waitingConversations: number
}

/** One message to the page. */
export type PageBatch =
  | { readonly kind: 'batch'; readonly items: readonly ToPage[]; readonly bytes: number; readonly left: number }
  | { readonly kind: 'address'; readonly otlpUrl: string }
  /** The configuration has changed to this text. */
  | { readonly kind: 'configuration'; readonly text: string; readonly redact: readonly string[] | undefined }
  | { readonly kind: 'tokens'; readonly tokens: readonly string[] }
  /** Sent every second while the receiving thread runs. */
  | { readonly kind: 'alive'; readonly conversations: ConversationCounts; readonly judges: readonly string[] }
  | { readonly kind: 'stop' }
  | AboutForgetting

/** Messages from the page's thread. */
export type FromPage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }
  /** So many batches are on the disk. */
  | { readonly kind: 'stored'; readonly batches: number; readonly bytes: number }
  | { readonly kind: 'trouble'; readonly message: string }
  /** Somebody opened, took or changed something. */
  | { readonly kind: 'audit'; readonly message: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  /** Somebody asks the page to forget a person. */
  | { readonly kind: 'ask-to-forget'; readonly id: number; readonly person: Person; readonly isCount: boolean }

/** Options of the page. */
export interface PageOptions {
  /** The address to listen on. */
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Host names of the page, besides loopback ones. */
  readonly allowedHosts: readonly string[]
  /** Where a proxy shows the page, such as `https://company.example/spanscore/`. */
  readonly publicUrl?: string | undefined
  /** The header in which that proxy names the user. It is believed with the token alone. */
  readonly userHeader?: string | undefined
  /** How long, and how much, the page keeps. */
  readonly retention: Retention
  /** Base URL of a Jaeger UI, such as `http://localhost:16686`. */
  readonly jaegerUrl?: string | undefined
}

/** The initial data of the page's thread. */
export interface PageWorkerData {
  readonly options: PageOptions
  readonly folder: string
  /** Two, while one replaces the other. */
  readonly tokens: readonly string[]
  readonly limits: RecordLimits
  readonly configPath: string | undefined
  /** The text of the configuration in effect. */
  readonly configText: string | undefined
  /** Patterns of what it redacts. */
  readonly redact?: readonly string[] | undefined
}
