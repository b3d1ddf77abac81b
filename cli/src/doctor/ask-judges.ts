import { evaluate } from '../../../src/scoring/evaluate.ts'
import { toRunInput } from '../../../src/scoring/given/run-input.ts'
import type { Scorer } from '../../../src/scoring/scorer.ts'
import type { AskFacts } from './facts.ts'

const { run } = toRunInput({
  input: [
    { role: 'system', content: 'Answer in one word.' },
    { role: 'user', content: 'Is 1 + 1 = 2?' },
  ],
  output: [{ role: 'assistant', content: 'Yes.' }],
})

/** Asks one judge of each model once, about a run of one question. */
export async function askJudges(scorers: readonly Scorer[], timeoutMs: number): Promise<readonly AskFacts[]> {
  const byModel = new Map<string, Scorer>()
  for (const scorer of scorers) {
    const model = scorer.judge?.model
    if (model !== undefined && !byModel.has(model)) byModel.set(model, scorer)
  }
  return Promise.all([...byModel].map(([model, scorer]) => askOnce(scorer, model, timeoutMs)))
}

async function askOnce(scorer: Scorer, model: string, timeoutMs: number): Promise<AskFacts> {
  const controller = new AbortController()
  let isAnswered = false
  let callError: string | undefined
  const evaluation = await evaluate(scorer, run, {
    timeoutMs,
    signal: controller.signal,
    onJudgeCall: ({ error }) => {
      isAnswered ||= error === undefined
      callError ??= error
      // One answered call shows that the judge works.
      controller.abort()
    },
  })
  const { score } = evaluation
  const why = score.status === 'scored' ? '' : score.message
  const isBeside = score.status === 'scored' || (score.status === 'skipped' && score.reason === 'not-applicable')
  const notAsked = isBeside ? `${scorer.id} has nothing to ask about a run of one question and one answer. ${why}` : why
  return {
    scorer: scorer.id,
    model,
    isAnswered,
    message: isAnswered ? 'It answered.' : (callError ?? notAsked.trim()),
  }
}
