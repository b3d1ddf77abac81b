/** The scorers of workers under test. One of them shows in its explanation whether the whole content of a run is as expected. */
import { createHash } from 'node:crypto'

import {
  createAnswerPresentScorer,
  createHallucinatedToolScorer,
  createLoopScorer,
  createScorer,
  createToolArgumentsScorer,
  createToolErrorsScorer,
} from 'spanscore/scorers/prebuilt'

/** Senders' clocks may be wrong, and a value that is undefined is an absent one. */
const textOf = (run) => JSON.stringify(run, (key, value) => (key.endsWith('TimeMs') ? undefined : value))

const content = createScorer({ id: 'content', description: 'Identifies the content of a run.', inline: true })
  .generateScore(() => 1)
  .generateReason(({ agentRun: run }) => {
    const { input, output, steps, toolCalls, missing } = run
    const digest = createHash('sha256').update(textOf(run)).digest('hex')
    const lacking = missing.map(({ what }) => what).join(', ')
    const counts = `${input.length} messages, ${steps.length} model calls, ${toolCalls.length} tool calls`
    return `${digest}: ${counts}, answer of ${output?.length ?? 0} characters, missing ${lacking}`
  })

export default {
  scorers: [
    createAnswerPresentScorer(),
    createHallucinatedToolScorer(),
    createLoopScorer(),
    createToolArgumentsScorer(),
    createToolErrorsScorer(),
    content,
  ],
}
