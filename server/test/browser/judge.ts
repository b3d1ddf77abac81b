import { createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { ScriptedOpenAIServer } from 'spanscore/testing'

import { unsupported } from './sample-runs.ts'

/** A judge that knows which claims of the sample runs are unsupported. */
export function startJudge(): Promise<ScriptedOpenAIServer> {
  return createScriptedOpenAIServer(({ userText }) => {
    const answer = [...readJudgePrompt(userText).sections.values()].join('\n')
    const wrong = unsupported.filter(([part]) => answer.includes(part))
    const supported = {
      text: 'The answer speaks of what was asked',
      verdict: 'supported',
      reasoning: 'the tool results say so',
    }
    const claims = wrong.map(([, text, reasoning]) => ({ text, verdict: 'not_stated', reasoning }))
    return judgeReply({ lists: { claims: [supported, ...claims] } })
  })
}
