import { certificateTrouble, resolveOptions } from 'spanscore/engine'

import { ALERTS_WITHOUT_METRICS, hasAlerts, loadServiceConfig } from './config/load-config.ts'
import { describeJudges } from './score/judge-troubles.ts'
import { unavailableAmong } from './score/service-scorer.ts'
import { OPTIONS_OF_TO } from './send/acknowledged-exporter.ts'
import { postForStatus } from './send/post-for-status.ts'
import type { ServerOptions } from './start.ts'

const SIGNALS = ['traces', 'logs', 'metrics']

/**
 * Checks the configuration, and sends an empty request of each signal to the destination. No model is asked.
 *
 * @param say receives a line for each
 * @returns whether all were taken
 * @throws Error what is wrong with the configuration
 */
export async function checkStart(
  { configPath, to }: Pick<ServerOptions, 'configPath' | 'to'>,
  say: (line: string) => void,
): Promise<boolean> {
  const config = loadServiceConfig(configPath, say)
  const { scorers } = resolveOptions(config.options, true)
  say(`The configuration can be used: ${scorers.map(({ id }) => id).join(', ')} (${config.source}).`)
  for (const line of describeJudges({ unavailableJudges: unavailableAmong(scorers), unpricedJudges: [] })) say(line)
  if (to === undefined) {
    if (hasAlerts(config.options)) say(ALERTS_WITHOUT_METRICS)
    return true
  }
  const outcomes = SIGNALS.map(async (signal) => {
    const url = `${to.url.replace(/\/$/, '')}/v1/${signal}`
    const headers = { ...to.headers, 'content-type': 'application/x-protobuf' }
    const status = await postForStatus(url, new Uint8Array(), { ...to, headers }).catch(
      (error: unknown) =>
        certificateTrouble(error, `--to ${to.url}`, OPTIONS_OF_TO) ??
        (error instanceof Error ? error.message : 'no answer'),
    )
    say(`${url}: ${typeof status === 'number' ? `HTTP ${status}` : status}`)
    return typeof status === 'number' && status >= 200 && status < 300
  })
  return (await Promise.all(outcomes)).every(Boolean)
}
