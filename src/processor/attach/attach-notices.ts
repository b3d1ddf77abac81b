import { globalSlot } from '../../scoring/global-slot.ts'
import type { ResolvedOptions } from '../../engine/config/options.ts'
import { notify } from '../../engine/notices/notify.ts'
import { lookAt } from './look-at.ts'

/** The options with which scoring was attached to each provider, in comparable form. */
const signatures = globalSlot('signatures', () => new WeakMap<object, string>(), isWeakMap)

/** The class name of a provider; `undefined` if it cannot be read. */
export function nameOfProvider(provider: object): string | undefined {
  const name: unknown = lookAt(() => provider.constructor?.name)
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : undefined
}

/** Logs that scoring was attached, and to which provider. */
export function reportAttached(provider: object, processorsBehind: number, options: ResolvedOptions): void {
  signatures.set(provider, signatureOf(options))
  const name = nameOfProvider(provider) ?? 'a tracer provider'
  const before = processorsBehind === 0 ? 'beside its processors' : `in front of ${processorsBehind} of its processors`
  const ids = options.scorers.map(({ id }) => id).join(', ')
  notify('SPANSCORE_ATTACHED', `Attached to ${name}, ${before}. Scorers: ${ids}.`)
}

/** Reports a second call whose options differ from the first. A hot reload with the same options is not reported. */
export function reportOtherOptions(provider: object, options: ResolvedOptions): void {
  if (signatures.get(provider) === signatureOf(options)) return
  const cure = 'Call attachScoring once, or detach() what the first call returned.'
  notify(
    'SPANSCORE_ATTACHED_TWICE',
    `attachScoring was called again for the same tracer provider with other options, which are ignored. ${cure}`,
  )
}

/** The options in comparable form. Functions differ after every reload, so they count as equal. */
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
