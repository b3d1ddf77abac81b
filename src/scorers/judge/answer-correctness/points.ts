import { inquire } from '../../../judge/judging.ts'
import type { JudgeOutcome } from '../../../judge/outcome.ts'
import { mainSection } from '../../../judge/prompt/render-run.ts'
import type { JudgeSession } from '../../../judge/session.ts'
import { BoundedMap } from '../../../spans/bounded-map.ts'
import { nodeCrypto } from '../../../spans/node-crypto.ts'

/** What an answer must say to be right. */
export interface AnswerPoint {
  /** One fact, in words that can be understood alone. */
  readonly text: string
  /** 2 if the answer is wrong without it. */
  readonly weight: 1 | 2
}

/** The points of an expected answer, which a case keeps. */
export interface AnswerPoints {
  /** A hash of the question and the answer that they were made of, which `spanscore cases points` writes. */
  readonly of: string
  /** The most important first; a person may change them. */
  readonly list: readonly AnswerPoint[]
}

/** The texts of the prompt, which are part of the version. */
export const pointPrompts = {
  role: 'You write down what an answer to a question must say to be right, by the expected answer and nothing else.',
  list: 'what an answer must say to be right, from the most important on, each one fact in words that can be understood alone; only what the question asks for: no examples, no background, no sources. A question with one answer has one point',
  weight:
    '"2" if an answer without this point, or with another one in its place, is wrong; "1" if it is right and less complete.',
} as const

const MAX_POINTS = 8
const WEIGHTS = ['1', '2'] as const

/** Identifies a question and its expected answer: 16 hex digits. */
export function pointsKey(question: string, answer: string): string {
  const hash = nodeCrypto()
    .createHash('sha256')
    .update(JSON.stringify([question, answer]))
  return hash.digest('hex').slice(0, 16)
}

/** Asks a judge for the points of an expected answer. */
export async function makePoints(
  session: JudgeSession,
  question: string,
  answer: string,
): Promise<JudgeOutcome<readonly AnswerPoint[]>> {
  const asked = await inquire(session, {
    role: pointPrompts.role,
    sections: [mainSection('the question', question), mainSection('the expected answer', answer)],
    questions: [],
    lists: [
      {
        name: 'points',
        prefix: 'p',
        instruction: pointPrompts.list,
        question: { text: pointPrompts.weight, verdicts: WEIGHTS },
        max: MAX_POINTS,
        mustHaveItems: true,
      },
    ],
  })
  if (!asked.ok) return asked
  const points = asked.value.items.get('points') ?? []
  return {
    ok: true,
    value: points.map(({ text, answer: given }) => ({ text, weight: given?.verdict === '2' ? 2 : 1 })),
  }
}

/** Expected answers whose points are kept in the process. */
const MAX_KEPT = 1000
const kept = new BoundedMap<string, Promise<JudgeOutcome<readonly AnswerPoint[]>>>(MAX_KEPT)

/** The points of an expected answer. Runs that need the same ones at the same time ask once. */
export async function pointsOf(
  session: JudgeSession,
  question: string,
  answer: string,
): Promise<JudgeOutcome<readonly AnswerPoint[]>> {
  const key = `${session.judge.name}\n${pointsKey(question, answer)}`
  const before = kept.get(key)
  const known = before && (await before)
  // If the judge of another score failed, this one asks again.
  if (known?.ok === true) return known
  const made = makePoints(session, question, answer)
  kept.set(key, made)
  return made
}
