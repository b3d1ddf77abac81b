import type { Evaluation } from '../model/score.ts'

/** The score's position in its range, 0 to 1, turned so that higher is better. */
export function positionInRange(
  { scorer }: { readonly scorer: Pick<Evaluation['scorer'], 'range' | 'better'> },
  value: number,
): number {
  const [low, high] = scorer.range
  const position = (value - low) / (high - low)
  return scorer.better === 'higher' ? position : 1 - position
}
