import { readFileSync, renameSync, writeFileSync } from 'node:fs'

import { plural } from '../../../server/page/src/format.ts'
import { expectedOf, parseCase } from '../../../src/cases/agent-case.ts'
import { Judge } from '../../../src/judge/judge.ts'
import { openSession } from '../../../src/judge/judging.ts'
import { makePoints, pointsKey } from '../../../src/scorers/judge/answer-correctness/points.ts'
import type { AnswerPoints } from '../../../src/scorers/judge/answer-correctness/points.ts'
import type { JudgeScorerOptions } from '../../../src/scorers/judge/judge-scorer.ts'
import { toRunInput } from '../../../src/scoring/given/run-input.ts'
import { keepProcessAlive } from '../../../src/scoring/keep-process-alive.ts'
import type { CommandContext } from '../command.ts'
import { loadConfig } from '../score/load-config.ts'
import { safeJson, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { readCases } from './cases.ts'

/** The command-line options of `spanscore cases points`. */
export interface PointsOptions {
  /** `<provider>/<model>`; without it, that of `answer_correctness` in the configuration. */
  readonly model?: string
  /** The configuration file. */
  readonly config?: string
}

const TIMEOUT_MS = 120_000

/** Adds points to the cases of a file that have an expected answer and none. Other lines stay as they are. */
export async function addPoints(file: string, options: PointsOptions, context: CommandContext): Promise<void> {
  const open = readCases(file, 'cases').filter(({ expected }) => expected.answer !== null && !expected.points)
  const say = (text: string): unknown => context.stderr.write(`spanscore: ${safeLine(text)}\n`)
  if (open.length === 0) return void say('every case with an expected answer has points.')
  const judge = toJudge(options, context)
  const contentBytes = Math.max(...open.map(({ input, expected }) => Buffer.byteLength(`${input}${expected.answer}`)))
  const asked = judge.toScorerJudge(() => ({ calls: 1, contentBytes, answers: 8 }))
  const missing = asked.unavailable()
  if (missing !== undefined) throw new UsageError(missing)
  const { tokens, costUsd = Number.NaN } = asked.estimate(toRunInput({ input: '', output: '' }).run)
  const cost = Number.isNaN(costUsd) ? 'an unknown price' : `${(costUsd * open.length).toFixed(2)} USD`
  const most = (tokens * open.length).toLocaleString('en')
  say(`${judge.name}: ${plural(open.length, 'expected answer')}, at most ${most} tokens, ${cost}`)
  await keepProcessAlive(async () => {
    for (const { id, input, expected } of open) {
      const answer = expected.answer ?? ''
      const scoring = { signal: AbortSignal.timeout(TIMEOUT_MS), timeoutMs: TIMEOUT_MS }
      const points = await makePoints(await openSession(judge, 'answer_correctness', id, scoring), input, answer)
      if (!points.ok) throw new UsageError(`case ${id}: ${points.score.message}`)
      save(file, id, { of: pointsKey(input, answer), list: points.value })
    }
  })
  say(`Points are written for ${plural(open.length, 'case')}: read them, and change what is wrong.`)
}

/** Changes the line of one case. It is done after each, so that nothing that was paid for is lost. */
function save(file: string, id: string, points: AnswerPoints): void {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => {
      if (line.trim() === '') return line
      if (parseCase(line, file).id !== id) return line
      const value: Readonly<Record<string, unknown>> = JSON.parse(line)
      return safeJson(JSON.stringify({ ...value, expected: { ...Object(expectedOf(value)), points } }))
    })
  writeFileSync(`${file}.tmp`, lines.join('\n'), { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

/** @throws UsageError if there is no judge, or it cannot be asked */
function toJudge({ model, config }: PointsOptions, context: CommandContext): Judge {
  const options =
    model === undefined
      ? loadConfig(config, context).scorers.find(({ scorer }) => scorer.id === 'answer_correctness')?.scorer.judge
          ?.options
      : { model: { id: model } }
  if (options === undefined)
    throw new UsageError('expected --model, or answer_correctness in the configuration, got neither')
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a factory has checked them, or the judge does
    const { model: asked, judge: settings } = options as JudgeScorerOptions
    return new Judge(asked, settings, '--model: expected')
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}
