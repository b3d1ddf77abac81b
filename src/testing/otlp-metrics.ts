import { toAttributes } from '../otlp/json.ts'
import { isRecord, numberOf, textOf } from '../spans/json.ts'

/** A received data point of a metric. */
export interface ReceivedMetric {
  /** Name of the instrument. */
  readonly name: string
  /** Unit of the instrument; `''` if it has none. */
  readonly unit: string
  /** Attributes of the data point. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Value of a sum or a gauge. */
  readonly value?: number
  /** Data of a histogram. */
  readonly histogram?: {
    readonly count: number
    readonly sum: number
    readonly bounds: readonly number[]
    readonly counts: readonly number[]
  }
}

/** Reads the data points of sums, gauges and explicit-bucket histograms from an OTLP/JSON metrics request. Ignores the rest. */
export function readOtlpMetrics(value: unknown): ReceivedMetric[] {
  return records(value, 'resourceMetrics')
    .flatMap((resource) => records(resource, 'scopeMetrics'))
    .flatMap((scope) => records(scope, 'metrics'))
    .flatMap((metric) => {
      const about = { name: textOf(metric['name']) ?? '', unit: textOf(metric['unit']) ?? '' }
      const numbers = [...records(metric['sum'], 'dataPoints'), ...records(metric['gauge'], 'dataPoints')].map(
        (point) => ({
          ...about,
          attributes: toAttributes(point['attributes']),
          value: numberOf(point['asDouble']) ?? numberOf(point['asInt']) ?? 0,
        }),
      )
      const histograms = records(metric['histogram'], 'dataPoints').map((point) => ({
        ...about,
        attributes: toAttributes(point['attributes']),
        histogram: {
          count: numberOf(point['count']) ?? 0,
          sum: numberOf(point['sum']) ?? 0,
          bounds: numbersOf(point['explicitBounds']),
          counts: numbersOf(point['bucketCounts']),
        },
      }))
      return [...numbers, ...histograms]
    })
}

function records(value: unknown, key: string): Record<string, unknown>[] {
  const list = isRecord(value) ? value[key] : undefined
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.map((item) => numberOf(item) ?? 0) : []
}
