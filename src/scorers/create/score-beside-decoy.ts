import { compromised } from '../../judge/controls/compromised.ts'
import type { Verdict } from '../../scoring/scorer.ts'

/**
 * The score of the run, where the same steps fail its decoy: quotes of the run in which every word that carries meaning was
 * replaced. A decoy that passes voids the score.
 */
export async function scoreBesideDecoy(
  model: string,
  ofRun: () => Verdict | Promise<Verdict>,
  ofDecoy: () => Verdict | Promise<Verdict>,
  passes: (value: number) => boolean,
): Promise<Verdict> {
  const decoy = await ofDecoy()
  const { judge } = decoy
  if (decoy.status === 'failed') return decoy
  if (decoy.status === 'scored' && passes(decoy.value)) {
    const { score } = compromised(model, 'gave a text that makes no sense a score that passes')
    return { ...score, ...(judge !== undefined && { judge }) }
  }
  return ofRun()
}
