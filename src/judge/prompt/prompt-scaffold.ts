import { buildPrompt } from './build-prompt.ts'
import { drawSecrets } from './control-question.ts'
import type { Inquiry } from '../inquiry.ts'

/** One of everything that a prompt can hold, without words of any scorer. */
const blank: Inquiry = {
  role: '',
  sections: [{ title: '', fragments: [] }],
  questions: [
    {
      ids: ['q1', 'q2', 'q3'],
      text: '',
      verdicts: ['a', 'b'],
      picks: { name: 'p', from: ['t'], required: ['a'], forbidden: ['b'] },
    },
  ],
  lists: [{ name: 'l', prefix: 'i', instruction: '', max: 1, question: { text: '', verdicts: ['a', 'b'] } }],
  notes: [{ name: 'n', instruction: '' }],
  control: { favourable: 'a', unfavourable: 'b' },
}

/**
 * All that a judge is told beside a scorer's own words: rules, marks, control question, shape of the reply. Part of every judge
 * scorer's version, because other words may well give other scores.
 */
export function promptFrame(): unknown {
  const secrets = drawSecrets(blank, { hex: (bytes) => '0'.repeat(2 * bytes), integer: () => 0 })
  return buildPrompt(blank, secrets, Infinity)?.prompt
}
