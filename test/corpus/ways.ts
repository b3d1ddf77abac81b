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
