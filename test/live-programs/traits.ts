import type { ProgramTraits } from './random-program.ts'

/** Kinds of random programs. */
export const TRAITS: Readonly<Record<string, ProgramTraits>> = {
  'agents, tools and model calls': { kinds: ['agent', 'tool', 'chat'], isTalkative: false, maxTraces: 1 },
  'conversations over two traces': { kinds: ['agent', 'tool', 'chat', 'chat'], isTalkative: true, maxTraces: 2 },
  'ordinary spans between them': {
    kinds: ['agent', 'tool', 'chat', 'ordinary', 'ordinary'],
    isTalkative: true,
    maxTraces: 2,
  },
  'workflows and evaluations around them': {
    kinds: ['agent', 'tool', 'chat', 'ordinary', 'entry', 'entry', 'evaluator'],
    isTalkative: true,
    maxTraces: 2,
  },
  'parents that were never seen': {
    kinds: ['agent', 'tool', 'chat', 'ordinary', 'entry', 'unseen', 'unseen'],
    isTalkative: true,
    maxTraces: 2,
  },
}
