/**
 * What share of the traces a sampler keeps, by its own description (`Sampler.toString()`), as far as that tells: those of the
 * SDK that keep everything, or a share by trace id, alone or below `ParentBased` for traces that begin in this process.
 *
 * @param description For example `ParentBased{root=TraceIdRatioBased{0.25}, remoteParentSampled=AlwaysOnSampler, …}`.
 * @param beganHere Whether the trace began in this process: else its caller decided, and at what rate is not known.
 * @returns Above 0, at most 1; `undefined` for samplers of another make.
 */
export function samplerProbability(description: string, beganHere: boolean): number | undefined {
  const root = /^ParentBased\{root=(\w+(?:\{[\d.e-]+\})?)[,}]/.exec(description)?.[1]
  if (root !== undefined) return beganHere ? samplerProbability(root, true) : undefined
  if (description === 'AlwaysOnSampler') return 1
  const ratio = Number(/^TraceIdRatioBased\{([\d.e-]+)\}$/.exec(description)?.[1])
  return ratio > 0 && ratio <= 1 ? ratio : undefined
}
