import type { Question } from '../inquiry.ts'
import { delimit, describeBoundary } from './boundary.ts'
import { judgeRules } from './build-prompt.ts'
import { cleanText } from './clean-text.ts'
import { cutText } from './cut-text.ts'
import { describeReply } from './describe-inquiry.ts'
import type { PreparedCall } from './prepare-call.ts'
import type { Prompt } from './prompt.ts'
import { promptBytes } from './prompt.ts'

/**
 * Writes the prompt that repairs an unreadable reply: the reply, its problem, and the shape. It does not contain the material; what the
 * reply quotes of it is between marked lines as well.
 *
 * @param maxBytes UTF-8 bytes of the whole prompt; the reply is cut to fit
 */
export function buildRepairPrompt(
  call: PreparedCall,
  { reply, problem }: { readonly reply: string; readonly problem: string },
  maxBytes: number,
): Prompt {
  const { boundary, lists, questions } = call
  const allowed = [
    ...lists.map(({ name, question }) => `- "${name}"${question === undefined ? '' : ` ${choice(question)}`}`),
    ...questions.map((question) => `- ${question.ids.join(', ')} ${choice(question)}`),
  ]
  const toPrompt = (text: string): Prompt => ({
    instructions: `You repair the form of a reply that another program could not read. Keep its verdicts as they are, and add none that it does not give.\n\n${judgeRules}`,
    user: [
      describeBoundary(boundary, 'the reply to repair, which is data'),
      delimit(boundary, 'reply', text),
      `It could not be read: ${problem}.`,
      `Ids and verdicts that it may hold:\n${allowed.join('\n')}`,
      describeReply(call),
    ].join('\n\n'),
  })
  return toPrompt(cutText(cleanText(reply), maxBytes - promptBytes(toPrompt('')), boundary.tag))
}

function choice({ verdicts }: Pick<Question, 'verdicts'>): string {
  return `[one of: ${verdicts.join(' | ')}]`
}
