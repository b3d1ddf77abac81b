import { expect, it } from 'vitest'

import { defineScorer } from '../../scoring/define-scorer.ts'
import { resolveOptions } from './options.ts'
import { refuseConversations } from './refuse-conversations.ts'

it('refuses scorers of conversations, and says where they work', () => {
  const scored = { status: 'scored', value: 1 } as const
  const parts = { description: '', kind: 'code', assess: () => scored } as const
  const short = defineScorer({ ...parts, id: 'short', level: 'conversation' })
  const options = resolveOptions({ scorers: [defineScorer({ ...parts, id: 'exact' }), short] })
  expect(() => refuseConversations(options, 'The processor')).toThrow(
    /^options\.scorers\[1\]: expected a scorer of runs or calls, got short, .*scored by the service \(spanscore-server\), by spanscore score/,
  )
  expect(() => refuseConversations({ scorers: options.scorers.slice(0, 1) }, 'The processor')).not.toThrow()
})
