import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readJudgePrompt } from '../../testing/judge-prompt.ts'
import { nameIds } from './describe-inquiry.ts'

describe('nameIds', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['call_1', 'call_2'], 'call_1, call_2'],
    [['call_1', 'call_2', 'call_3'], 'call_1 to call_3'],
    [['call_9', 'call_10', 'call_11', 'missing'], 'call_9 to call_11, missing'],
    [['call_1', 'call_3', 'call_4', 'call_5', 'x7', 'x8'], 'call_1, call_3 to call_5, x7, x8'],
    [['a01', 'a02', 'a03'], 'a01 to a03'],
    [['a08', 'a09', 'a10'], 'a08, a09, a10'],
    [['3', '2', '1'], '3, 2, 1'],
  ])('writes %j as %s', (ids, named) => {
    expect(nameIds(ids)).toBe(named)
  })

  it('can be read back as the same ids', () => {
    const id = fc.stringMatching(/^[\w.-]{1,6}$/).filter((text) => !text.startsWith('"'))
    const counted = fc
      .tuple(fc.constantFrom('call_', 'c', 'v1.', ''), fc.nat({ max: 300 }), fc.integer({ min: 1, max: 12 }))
      .map(([prefix, first, count]) => Array.from({ length: count }, (_, index) => `${prefix}${first + index}`))
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            id.map((one) => [one]),
            counted,
          ),
          { minLength: 1, maxLength: 5 },
        ),
        (groups) => {
          const ids = groups.flat()
          const { questions } = readJudgePrompt(`The mark is 0123456789ab.\n\n- ${nameIds(ids)} [yes | no]: Is it?`)
          expect(questions.map(({ id: one }) => one)).toEqual(ids)
        },
      ),
    )
  })
})
