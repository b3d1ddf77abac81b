import { createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { ScriptedOpenAIServer } from 'spanscore/testing'

import type { ChatTurn } from '../../../test/fixtures/chat.ts'

interface Reaction {
  readonly verdict: 'repeats' | 'corrects' | 'complains' | 'gives_up'
  readonly reasoning: string
}

interface Item {
  readonly text: string
  readonly verdict: string
  readonly reasoning: string
}

/** A conversation, and what a judge says of it. */
export interface SampleChat {
  readonly id: string
  readonly turns: readonly (ChatTurn & { readonly reaction?: Reaction })[]
  readonly goals: readonly Item[]
  readonly facts?: readonly Item[]
}

/** Conversations with the agent of a bicycle shop. */
export const sampleChats: readonly SampleChat[] = [
  {
    id: 'chat-7c41',
    turns: [
      {
        user: 'Hi! My new helmet arrived with a crack. I would like my money back. The order is A-311.',
        answer: 'I am sorry to hear that. What is your order number?',
      },
      {
        user: 'As I said, the order is A-311.',
        answer: 'Thank you. Order A-311 is a bicycle bell. Should I refund the bell?',
        tools: [{ name: 'find_order' }],
        reaction: { verdict: 'repeats', reasoning: 'gives the order number once more' },
      },
      {
        user: 'No, the helmet! The bell is fine.',
        answer: 'I have refunded the helmet to your card. You will get an e-mail within a few minutes.',
        tools: [{ name: 'find_order' }, { name: 'refund_order', fails: true }],
        reaction: { verdict: 'corrects', reasoning: 'the agent spoke of the wrong item' },
      },
      { user: 'How long does the refund take?', answer: 'About two days.' },
      {
        user: 'It is two days later, and there is no e-mail and no money. Please let me talk to a person.',
        answer: 'I am sorry. Our support is open from 9 to 17, at 0471 555 01.',
        reaction: { verdict: 'gives_up', reasoning: 'asks for a person' },
      },
    ],
    goals: [
      { text: 'get the money for the helmet back', verdict: 'not', reasoning: 'the refund failed with a timeout' },
      { text: 'know how long a refund takes', verdict: 'done', reasoning: 'about two days' },
    ],
    facts: [
      { text: 'the order is A-311', verdict: 'asked_again', reasoning: 'it asked for the number in its first answer' },
      { text: 'the helmet has a crack', verdict: 'contradicted', reasoning: 'it offered to refund the bell' },
      { text: 'the bell is fine', verdict: 'kept', reasoning: '' },
    ],
  },
  {
    id: 'chat-7c3f',
    turns: [
      {
        user: 'Which lock fits the Fjord 2?',
        answer: 'The U-lock L-20 fits. Its holder is mounted below the seat.',
        tools: [{ name: 'search_products' }],
      },
      { user: 'And is it in stock in Bergen?', answer: 'Yes, there are four.', tools: [{ name: 'stock_of' }] },
      { user: 'Great, thank you!', answer: 'You are welcome. Ride safely!' },
    ],
    goals: [{ text: 'find a lock for the Fjord 2', verdict: 'done', reasoning: 'L-20' }],
    facts: [{ text: 'the bicycle is a Fjord 2', verdict: 'kept', reasoning: '' }],
  },
  {
    id: 'chat-7c3a',
    turns: [
      { user: 'I want to change my delivery address to Lark Lane 5.', answer: 'Which order is it?' },
      { user: 'F-318.', tools: [{ name: 'change_address', waits: true }] },
    ],
    goals: [{ text: 'change the delivery address', verdict: 'partly', reasoning: 'the change waits for an approval' }],
    facts: [{ text: 'the new address is Lark Lane 5', verdict: 'kept', reasoning: '' }],
  },
  {
    id: 'chat-7c22',
    turns: [
      { user: 'When do you open on Saturdays and on Sundays?', answer: 'At ten.' },
      {
        user: 'When do you open on Saturdays? And on Sundays?',
        answer: 'At ten on Saturdays. We are closed on Sundays.',
        reaction: { verdict: 'repeats', reasoning: 'asks the same question with more detail' },
      },
      { user: 'Ok', answer: 'See you!' },
    ],
    goals: [{ text: 'know the opening hours', verdict: 'done', reasoning: '' }],
  },
]

/** A judge that knows the sample conversations. */
export function startChatJudge(): Promise<ScriptedOpenAIServer> {
  return createScriptedOpenAIServer(({ userText }) => {
    const shown = [...readJudgePrompt(userText).sections.values()].join('\n')
    const chat = sampleChats.find(({ turns: [first] }) => shown.includes(first?.user.slice(0, 30) ?? ''))
    const verdicts = Object.fromEntries(
      Array.from({ length: 10 }, (_unused, index) => [`turn_${index + 1}`, chat?.turns[index]?.reaction ?? 'moves_on']),
    )
    return judgeReply({
      verdicts: { ...verdicts, overstepped: 'no' },
      lists: { goals: chat?.goals ?? [], facts: chat?.facts ?? [] },
    })
  })
}
