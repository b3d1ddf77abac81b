import { CallbackHandler } from '@langfuse/langchain'

export function config() {
  return { callbacks: [new CallbackHandler()] }
}
