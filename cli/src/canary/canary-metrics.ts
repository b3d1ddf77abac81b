import { directFetch } from '../../../src/judge/transport/limited-fetch.ts'
import { describeAnswer, bodyTextOf } from '../answer.ts'
import { readHeaders } from '../otlp-headers.ts'
import { safeLine } from '../text.ts'
import type { JudgePass } from './judge-again.ts'

/** Where metrics are sent to. */
export interface MetricsTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

const TIMEOUT_MS = 10_000

const GAUGES = [
  ['spanscore.canary.judged', 'Labelled runs that the last pass of spanscore canary judged.', 'runs'],
  ['spanscore.canary.agreed', 'Those of them on which the judge agrees with people.', 'agreed'],
] as const

/**
 * Converts a pass to an OTLP/JSON metrics request. It uses gauges because the process lives for one pass, and a backend cannot compute
 * the increase of a counter that it sees only once.
 */
export function toMetricsRequest(passes: readonly JudgePass[], nowMs: number, environment: Environment): unknown {
  const timeUnixNano = `${BigInt(Math.round(nowMs)) * 1_000_000n}`
  const metrics = GAUGES.map(([name, description, key]) => ({
    name,
    description,
    unit: '{run}',
    gauge: {
      dataPoints: passes.flatMap(({ judge, ...pass }) =>
        (['pass', 'fail'] as const).map((label) => ({
          attributes: attributes({
            'gen_ai.evaluation.name': judge.scorer,
            'spanscore.scorer.version': judge.version,
            ...(judge.judgeModel !== undefined && { 'spanscore.judge.model': judge.judgeModel }),
            'spanscore.canary.label': label,
          }),
          timeUnixNano,
          asInt: String(pass[label][key]),
        })),
      ),
    },
  }))
  // There is no service.instance.id, because all passes form one series although each is a new process.
  const resource = { attributes: attributes({ 'service.name': environment.OTEL_SERVICE_NAME || 'spanscore-canary' }) }
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'spanscore' }, metrics }] }] }
}

function attributes(values: Readonly<Record<string, string>>): unknown[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
}

/** The OTLP/HTTP metrics endpoint from the OpenTelemetry environment variables; `undefined` if there is none. */
export function metricsTarget(environment: Environment): MetricsTarget | undefined {
  const own = environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
  const all = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  const url = own || (all && `${all.replace(/\/$/, '')}/v1/metrics`)
  if (!url) return undefined
  const listed = `${environment.OTEL_EXPORTER_OTLP_HEADERS ?? ''},${environment.OTEL_EXPORTER_OTLP_METRICS_HEADERS ?? ''}`
  return { url, headers: readHeaders(listed) }
}

/**
 * Sends a metrics request as JSON over OTLP/HTTP.
 *
 * @throws Error with the cause, also if the receiver accepts only part of the data
 */
export async function sendMetrics(request: unknown, { url, headers }: MetricsTarget): Promise<void> {
  const response = await directFetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(await describeAnswer(response))
  const text = await bodyTextOf(response)
  const rejected = /"rejectedDataPoints"\s*:\s*"?([1-9]\d*)/.exec(text)?.[1]
  if (rejected !== undefined) throw new Error(`${rejected} data points were rejected: ${safeLine(text.slice(0, 200))}`)
}
