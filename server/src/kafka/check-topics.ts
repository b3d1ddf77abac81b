import { Admin, ConfigResourceTypes } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'

import { checkMessageBytes } from './check-message-bytes.ts'
import { clusterIn } from './cluster.ts'
import { explained, isRefusal, KafkaClient } from './kafka-client.ts'
import type { KafkaOptions } from './kafka-client.ts'

const WAIT_FOR_BROKERS_MS = 15_000

/** Names of the topics. */
export interface Topics {
  readonly spans: string
  readonly logs: string
  /** The topic for unreadable messages. */
  readonly dead: string
}

/**
 * Checks that the topics are configured as a worker needs them.
 *
 * @returns the number of partitions of the topics of spans and log records
 * @throws Error if they are not: what was expected, what was found, and what to do
 */
export async function checkTopics(kafka: KafkaOptions, base: BaseOptions, topics: Topics): Promise<number> {
  const retrying = { ...base, retries: 3, retryDelay: 1000 }
  const admin = new Admin(retrying)
  const client = new KafkaClient(retrying)
  try {
    const names = [topics.spans, topics.logs, topics.dead]
    const existing = await topicsOf(kafka, base)
    await client.checkVersions()
    const missing = names.filter((name) => !existing.includes(name))
    if (missing.length > 0) {
      throw new Error(
        `Expected the topics ${names.join(', ')}, found no ${missing.join(', ')}. Create them, or let this user see them; docs/scale.md has the commands and the rights.`,
      )
    }
    const metadata = await client.metadata(names, true)
    const countOf = (name: string) => metadata.topics.get(name)?.partitionsCount ?? 0
    if (countOf(topics.spans) !== countOf(topics.logs)) {
      throw new Error(
        `Expected as many partitions of ${topics.logs} as of ${topics.spans}, got ${countOf(topics.logs)} and ${countOf(topics.spans)}: what belongs to one trace would be read by different workers.`,
      )
    }
    const read = [topics.spans, topics.logs]
    const configs = await admin.describeConfigs({
      resources: read.map((resourceName) => ({
        resourceType: ConfigResourceTypes.TOPIC,
        resourceName,
        configurationKeys: ['message.timestamp.type', 'cleanup.policy', 'max.message.bytes'],
      })),
    })
    for (const { resourceName, configs: settings } of configs) {
      checkSettings(resourceName, new Map(settings.map(({ name, value }) => [name, value])))
    }
    return countOf(topics.spans)
  } finally {
    await Promise.all([admin.close(), client.close()])
  }
}

/** @param settings the values of the topic's settings, by name */
function checkSettings(topic: string, settings: ReadonlyMap<string, string | null | undefined>): void {
  const type = settings.get('message.timestamp.type')
  if (type !== 'LogAppendTime') {
    throw new Error(
      `Expected message.timestamp.type=LogAppendTime of the topic ${topic}, got ${type}: with the senders' clocks a run could be scored before its spans are there. Set it with kafka-configs --alter.`,
    )
  }
  const policy = settings.get('cleanup.policy')
  if (policy?.includes('compact') === true) {
    throw new Error(
      `Expected cleanup.policy=delete of the topic ${topic}, got ${policy}: all spans of a trace have the same key, so that all but its last ones would be deleted. Set it with kafka-configs --alter.`,
    )
  }
  checkMessageBytes(topic, settings.get('max.message.bytes'))
}

/** The existing topics. Waits for brokers that do not answer yet, but not for those that refuse. */
async function topicsOf(kafka: KafkaOptions, base: BaseOptions): Promise<readonly string[]> {
  const endMs = performance.now() + WAIT_FOR_BROKERS_MS
  for (;;) {
    const admin = new Admin({ ...base, retries: 0 })
    try {
      return await admin.listTopics()
    } catch (error) {
      const known = clusterIn(error, [])
      if (known !== undefined) return [...known.topics.keys()]
      if (isRefusal(error) || performance.now() > endMs) throw explained(error, kafka)
      await new Promise((resolve) => setTimeout(resolve, 1000))
    } finally {
      await admin.close().catch(() => undefined)
    }
  }
}
