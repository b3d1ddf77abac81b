import type { Message } from '../../model/message.ts'
import { textMessage } from './messages.ts'

const BEFORE = 'Current Task: '
const AFTER = '\n\nThis is the expected criteria for your final answer:'

/** What a task of CrewAI says, out of the prompt that the library builds from it; the text itself where it is no such prompt. */
export function taskIn(prompt: string): string {
  const end = prompt.indexOf(AFTER)
  if (end === -1) return prompt
  const text = prompt.slice(0, end).trim()
  return text.startsWith(BEFORE) ? text.slice(BEFORE.length) : text
}

/** The messages, with tasks in place of the prompts that were built from them. */
export function withTasks(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages?.map((message) => {
    const { role, text } = message
    if (role !== 'user' || text === undefined || message.parts.length !== 1) return message
    const task = taskIn(text)
    return task === text ? message : textMessage(role, task)
  })
}
