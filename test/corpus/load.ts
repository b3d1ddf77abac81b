import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { SourceLog, SourceSpan } from '../../src/spans/source-span.ts'
import { readOtlpJson } from '../../src/otlp/json.ts'

/** One recorded scenario: what a real library wrote, and what happened according to the script that was played. */
export interface Scenario {
  readonly library: string
  readonly id: string
  readonly expected: ExpectedScenario
  /** The OTLP/JSON request, as recorded. */
  readonly traces: unknown
  readonly logs?: unknown
  /** Starts and ends in the order of the hooks, with the attribute keys that were set at the start. */
  readonly order?: readonly (readonly [string, 's', readonly string[]] | readonly [string, 'e'])[]
  /** Facts that the recording does not contain. */
  readonly missing?: readonly string[]
}

/** What the script says. */
export interface ExpectedScenario {
  readonly captured?: { readonly inputs: boolean; readonly outputs: boolean }
  readonly contentCapture?: boolean
  readonly runs: readonly ExpectedRun[]
}

export interface ExpectedRun {
  readonly agentName?: string
  readonly userInput: string
  readonly systemPrompt?: string
  readonly history?: readonly unknown[]
  readonly availableTools?: readonly string[]
  readonly status?: 'ok' | 'error' | 'aborted'
  readonly error?: string
  readonly output: unknown
  readonly outputAlt?: readonly unknown[]
  readonly outputIsObject?: boolean
  readonly toolCalls: readonly ExpectedCall[]
  readonly modelCalls?: number
  readonly retrievals?: readonly ExpectedRetrieval[]
}

export interface ExpectedRetrieval {
  readonly kind: 'search' | 'rerank' | 'memory'
  readonly query?: string
  readonly documents?: readonly { readonly id?: string; readonly content: string }[]
  readonly error?: string
  readonly toolCall?: number
}

export interface ExpectedCall {
  readonly name: string
  readonly args?: unknown
  readonly result?: unknown
  readonly error?: string
  readonly executed?: boolean | 'pending'
  readonly providerExecuted?: boolean
  readonly resultUndefined?: boolean
  readonly recordedArgs?: unknown
  readonly recordedResult?: unknown
  readonly agentName?: string
  readonly isHandoff?: boolean
  readonly errorTextIsLibrarySpecific?: boolean
  readonly step?: number
  readonly nested?: ExpectedRun | readonly ExpectedRun[]
}

const recordings = join(import.meta.dirname, 'recordings')

/** The names of the recorded libraries. */
export function libraryNames(): readonly string[] {
  return readdirSync(recordings)
    .filter((file) => file.endsWith('.json.br'))
    .map((file) => file.slice(0, -'.json.br'.length))
    .toSorted()
}

const loaded = new Map<string, readonly Scenario[]>()
const read = new WeakMap<Scenario, ScenarioRecords>()

/** The scenarios of a library, which are loaded once. */
export function loadLibrary(name: string): readonly Scenario[] {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const text = brotliDecompressSync(readFileSync(join(recordings, `${name}.json.br`))).toString()
  const { scenarios } = JSON.parse(text) as { scenarios: Omit<Scenario, 'library'>[] }
  const all = scenarios.map((scenario) => ({ library: name, ...scenario }))
  loaded.set(name, all)
  return all
}

interface ScenarioRecords {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
}

/** A scenario's spans and log records, through the reader of OTLP files, which reads them once. */
export function readScenario(scenario: Scenario): ScenarioRecords {
  const known = read.get(scenario)
  if (known !== undefined) return known
  const traces = readOtlpJson(scenario.traces)
  const logs = scenario.logs === undefined ? undefined : readOtlpJson(scenario.logs)
  const records = { spans: traces?.spans ?? [], logs: logs?.logs ?? [] }
  read.set(scenario, records)
  return records
}
