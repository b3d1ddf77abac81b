import type { ShownEvaluation } from '../../../server/src/page/shown-evaluation.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import type { StoredScore } from '../../../src/otlp/stored-score.ts'
import type { PageClient } from '../mcp/page-client.ts'

/** The runs of a service's page that a scorer failed or a user disliked, each with its scores. */
export async function* runsOfPage(
  page: PageClient,
  fromMs: number,
): AsyncGenerator<Pick<StoredRun, 'run' | 'scoresOf'>> {
  const seen = new Set<string>()
  for (const choice of [{ sort: 'worst' }, { feedback: 'disliked' }]) {
    let after: string | undefined
    do {
      const { runs, next } = await page.ask('/api/runs', { ...choice, fromMs, after, limit: 200 })
      after = next
      for (const { id } of runs) {
        if (seen.has(id)) continue
        seen.add(id)
        const { run, scores, said } = await page.ask('/api/run', { id })
        yield {
          run,
          scoresOf: (one) => [
            ...scores.flatMap(({ runId, evaluation }) => (runId === one.id ? [toStored(evaluation)] : [])),
            ...said.filter(({ runId, toolCall }) => runId === one.id && toolCall === undefined),
          ],
        }
      }
    } while (after !== undefined)
  }
}

function toStored({ scorer, score, judge }: ShownEvaluation): StoredScore {
  const { id: scorerId, version = '', range, better } = scorer
  const about = { revision: 1, version, ...(judge !== undefined && { judgeModel: judge.model }) }
  const where = range === undefined || better === undefined ? {} : { about: { ...about, range, better } }
  if (score.status !== 'scored') return { scorerId, status: score.status, ...where }
  const { value, label, explanation } = score
  return {
    scorerId,
    ...(value !== undefined && { value }),
    ...(label !== undefined && { label }),
    ...(explanation !== undefined && { explanation }),
    ...where,
  }
}
