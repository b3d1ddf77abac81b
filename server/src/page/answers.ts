import type { AgentRun, SourceSpan } from 'spanscore/engine'

import type { PageFacts } from './api.ts'
import type { Thread } from './conversation-page.ts'
import type { OpenRun } from './ingest.ts'
import type { Overview } from './overview.ts'
import type { ShownEvaluation } from './shown-evaluation.ts'
import type { CommonAnswer } from './store/common.ts'
import type { ComparedScorer, Comparison } from './store/compare.ts'
import type { ConversationPage } from './store/conversation-list.ts'
import type { Now } from './store/now.ts'
import type { ListedRun } from './store/run-list.ts'
import type { OpinionCounts, ScoreSeries, ScoreSummary } from './store/score-sums.ts'
import type { Sides } from './store/sides.ts'
import type { ShownScorer } from './trials.ts'

/** What the paths that only read answer, for everything that asks the page: its views, and `spanscore mcp`. */
export interface PageAnswers {
  readonly '/api/overview': ServiceOverview
  readonly '/api/now': Now
  readonly '/api/runs': RunList
  readonly '/api/run': RunDetails
  readonly '/api/conversations': ConversationPage
  readonly '/api/conversation': Thread
  readonly '/api/scores': ScoresOverTime
  readonly '/api/compare': Comparison
  readonly '/api/compare/all': readonly ComparedScorer[]
  readonly '/api/common': CommonAnswer
  readonly '/api/sides': Sides
  readonly '/api/scorers': { readonly scorers: readonly ShownScorer[] }
}

/** What the page knows of what it shows. */
export type ServiceOverview = Overview &
  PageFacts & {
    /** The version of the package that answers. */
    readonly version: string
    /** Runs in progress. */
    readonly open: number
  }

/** A page of the list of runs. */
export interface RunList {
  readonly runs: readonly ListedRun[]
  readonly open: readonly OpenRun[]
  readonly next?: string
  readonly total?: number
  readonly withheld: number
}

/** Everything on the page of a run. */
export interface RunDetails {
  readonly run: AgentRun
  readonly isOpen: boolean
  /** The conversation that the run is in. */
  readonly conversation?: { readonly key: string; readonly turns: number }
  readonly stored?: {
    readonly revision: number
    readonly settled_ms: number
    readonly parent_id: string | null
    readonly cost_usd: number | null
  }
  readonly scores: readonly {
    readonly runId: string
    readonly scoreKey: string
    readonly evaluation: ShownEvaluation
  }[]
  /** What users and other tools say. */
  readonly said: readonly {
    readonly runId: string
    readonly toolCall?: number
    readonly scorerId: string
    readonly value?: number
    readonly label?: string
    readonly explanation?: string
    readonly evaluatorType?: string
  }[]
  /** Scores that the viewer must label first. */
  readonly withheld: readonly { readonly runId: string; readonly scorer: string; readonly version: string }[]
  readonly spans: readonly SourceSpan[]
}

/** The scores of a scorer over time. */
export interface ScoresOverTime {
  readonly all: ScoreSummary
  readonly series: readonly ScoreSeries[]
  readonly bucketMs: number
  /** Runs without a score that counts, by the reason. */
  readonly unscored: readonly { readonly reason: string; readonly runs: number }[]
  /** What users say of the scored runs. */
  readonly opinions?: OpinionCounts
  readonly withheld: number
}
