import { UsageError } from '../usage-error.ts'
import { expectNoUser, withoutPassword } from './backend-access.ts'
import type { BackendAccess } from './backend-access.ts'
import { JaegerBackend } from './jaeger-backend.ts'
import { TempoBackend } from './tempo-backend.ts'
import type { TraceBackend } from './trace-backend.ts'

/**
 * @param from such as `jaeger://localhost:16686` or `tempo+https://tempo.example/base`
 * @param query the backend's own: TraceQL, or parameters of Jaeger's API
 * @throws UsageError if it is not an address of a known backend
 */
export function createBackend(from: string, query: string | undefined, access: BackendAccess): TraceBackend {
  const [, kind, secure, rest = ''] = /^(jaeger|tempo)(\+https)?:\/\/(.+?)\/?$/.exec(from) ?? []
  const base = `${secure === undefined ? 'http' : 'https'}://${rest}`
  if (kind === undefined || !URL.canParse(base)) {
    throw new UsageError(
      `--from: expected jaeger://host:port or tempo://host:port (jaeger+https, tempo+https for TLS), got ${withoutPassword(from)}`,
    )
  }
  expectNoUser('--from', base, 'SPANSCORE_FROM_HEADERS')
  return kind === 'jaeger' ? new JaegerBackend(base, query, access) : new TempoBackend(base, query, access)
}
