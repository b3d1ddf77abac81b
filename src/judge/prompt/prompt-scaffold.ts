import type { Inquiry } from '../inquiry.ts'
import { buildPrompt } from './build-prompt.ts'
import { keyedHash } from '../randomness.ts'
import { prepareCall } from './prepare-call.ts'

/** One of everything that a prompt can contain, without any scorer's text. */
const blank: Inquiry = {
  role: '',
  sections: [{ title: 's', fragments: [{ text: '', cut: 'last' }] }],
  questions: [
    {
      ids: ['q1', 'q2', 'q3'],
      text: '',
      verdicts: ['a', 'b'],
      picks: { name: 'p', from: ['t'], required: ['a'], forbidden: ['b'] },
      failsNonsense: true,
    },
  ],
  lists: [{ name: 'l', prefix: 'i', instruction: '', max: 1, from: 's', question: { text: '', verdicts: ['a', 'b'] } }],
  notes: [{ name: 'n', instruction: '' }],
  vary: 's',
}

/**
 * Everything that a judge reads besides a scorer's own text: rules, marks, controls, shape of the reply. It is part of every judge scorer's
 * version, because different words may give different scores.
 */
export function promptScaffold(): unknown {
  const randomness = {
    hex: (bytes: number): string => '0'.repeat(2 * bytes),
    integer: (): number => 0,
    digest: (text: string): string => keyedHash('', text),
  }
  return [blank, { ...blank, vary: undefined, lists: [] }].map(
    (inquiry) => buildPrompt(prepareCall(inquiry, randomness, true), Infinity)?.prompt,
  )
}
