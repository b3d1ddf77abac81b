import { toWordPieces } from '../../src/judge/prompt/segments.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { libraryNames, loadLibrary, readScenario } from '../corpus/load.ts'

const known = new Map<string, string[]>()

/** The words of a text in lower case. */
export function lowerCaseWords(text = ''): string[] {
  const found =
    known.get(text) ?? toWordPieces(text).flatMap((piece) => (piece.isWord ? [piece.text.toLowerCase()] : []))
  known.set(text, found)
  return found
}

/** Recorded runs whose answer has several words, one for each key. */
export function recordedRuns(keyOf: (run: AgentRun) => unknown): readonly AgentRun[] {
  const runs = libraryNames()
    .flatMap((library) => loadLibrary(library))
    .flatMap((scenario) => {
      const { spans, logs } = readScenario(scenario)
      return buildRuns(spans, { logs })
    })
    .filter(
      ({ output, status, userInput }) =>
        status === 'ok' && userInput !== undefined && lowerCaseWords(output).length > 5,
    )
  return [...new Map(runs.map((run) => [keyOf(run), run])).values()]
}

/** A text that a call asks about, as it is seen by a judge that knows our source. */
export interface SeenText {
  readonly isControl: boolean
  readonly id: string
  /** 0 for the first of the texts, 1 for the last. */
  readonly position: number
  readonly text: string
  readonly material: string
  /** The other texts that the call asks about, or shows beside. */
  readonly others: readonly string[]
}
