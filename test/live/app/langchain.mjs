import { awaitAllCallbacks } from '@langchain/core/callbacks/promises'

import { agents } from './langchain-agents.mjs'

const [kind, tracing] = process.env.VARIANT.split('/')
const tracer = await import(`./langchain-${tracing}.mjs`)

export const instrument = tracer.instrument

/** A nested agent is called without callbacks of its own: LangChain gives it those of the tool. */
export function answer(run, options) {
  const config = options.isNested ? {} : (tracer.config?.() ?? {})
  const ask = () => agents[kind](run, options, answer, config)
  return tracer.around === undefined || options.isNested ? ask() : tracer.around(run, ask)
}

export async function flush() {
  await awaitAllCallbacks()
  await tracer.flush?.()
}
