import type { Way } from './play.ts'

/** Four ways that together have each pair of settings, but for attributes of the kind set right after the start, which are in one. */
export const WAYS: readonly Way[] = [
  { parents: 'object', atStart: 'recorded', strangers: true },
  { parents: 'ids', atStart: 'recorded', strangers: false },
  { parents: 'object', atStart: 'none', strangers: false },
  { parents: 'ids', atStart: 'none', strangers: true },
  { parents: 'object', atStart: 'kind', strangers: true },
  { parents: 'ids', atStart: 'kind', strangers: false },
]

/** Two ways for the recording at this place: parents by object, and by ids. Three recordings beside each other have all six. */
export function waysAt(index: number): readonly Way[] {
  return WAYS.filter((_, at) => at % 3 === index % 3)
}
