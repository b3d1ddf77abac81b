import { globalSlot } from '../../scoring/global-slot.ts'
import type { ResolvedOptions } from '../config/options.ts'
import { notify } from '../notices/notify.ts'

/** What scoring of each provider was attached with, as far as options can be compared. */
const signatures = globalSlot('signatures', () => new WeakMap<object, string>(), isWeakMap)

/** Says that scoring was attached, and to what. */
export function reportAttached(provider: object, processorsBehind: number, options: ResolvedOptions): void {
  signatures.set(provider, signatureOf(options))
  const name = provider.constructor?.name ?? 'a tracer provider'
  const before = processorsBehind === 0 ? 'beside its processors' : `in front of ${processorsBehind} of its processors`
  const ids = options.scorers.map(({ id }) => id).join(', ')
  notify('SPANSCORE_ATTACHED', `Attached to ${name}, ${before}. Scorers: ${ids}.`)
}

/** Says that a second call asked for something else than the first; a hot reload that asks for the same is none of it. */
export function reportOtherOptions(provider: object, options: ResolvedOptions): void {
  if (signatures.get(provider) === signatureOf(options)) return
  const cure = 'Call attachScoring once, or detach() what the first call returned.'
  notify(
    'SPANSCORE_ATTACHED_TWICE',
    `attachScoring was called again for the same tracer provider with other options, which are ignored. ${cure}`,
  )
}

/** What of the options can be compared. Functions differ after every reload, and count as equal. */
function signatureOf(options: ResolvedOptions): string {
  const { next: _next, tracerProvider: _tracer, meterProvider: _meter, loggerProvider: _logger, ...plain } = options
  return JSON.stringify({
    ...plain,
    scorers: options.scorers.map(({ about, agents, scope, sample }) => ({
      about,
      agents: [...(agents ?? [])],
      scope,
      sample,
    })),
  })
}

function isWeakMap(value: unknown): value is WeakMap<object, string> {
  return value instanceof WeakMap
}
