import { Admin, ConfigResourceTypes } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'

import { checkMessageBytes } from '../check-message-bytes.ts'
import { topicsOf } from '../check-topics.ts'
import { KafkaClient } from '../kafka-client.ts'
import type { KafkaOptions } from '../kafka-client.ts'

/** The facts about the topic of jobs. */
export interface JobsTopicFacts {
  readonly partitionCount: number
  /** Maximum bytes of one batch of messages. */
  readonly maxMessageBytes: number
}

/**
 * Checks that the topic of judge jobs exists, and that it only deletes old messages.
 *
 * @param others other topics that must exist
 * @throws Error if it is not configured correctly: what was expected, what was found, and what to do
 */
export async function checkJobsTopic(
  kafka: KafkaOptions,
  base: BaseOptions,
  topic: string,
  others: readonly string[],
): Promise<JobsTopicFacts> {
  const retrying = { ...base, retries: 3, retryDelay: 1000 }
  const admin = new Admin(retrying)
  const client = new KafkaClient(retrying)
  try {
    const existing = await topicsOf(kafka, base)
    await client.checkVersions()
    const missing = [topic, ...others].filter((name) => !existing.includes(name))
    if (missing.length > 0) {
      throw new Error(
        `Expected the topics ${[topic, ...others].join(', ')}, found no ${missing.join(', ')}. Create them, or let this user see them; docs/scale.md has the commands and the rights.`,
      )
    }
    const metadata = await client.metadata([topic], true)
    const [described] = await admin.describeConfigs({
      resources: [
        {
          resourceType: ConfigResourceTypes.TOPIC,
          resourceName: topic,
          configurationKeys: ['cleanup.policy', 'max.message.bytes'],
        },
      ],
    })
    const valueOf = (key: string) => described?.configs.find(({ name }) => name === key)?.value
    const policy = valueOf('cleanup.policy')
    if (policy?.includes('compact') === true) {
      throw new Error(
        `Expected cleanup.policy=delete of the topic ${topic}, got ${policy}: what judges may see of runs would be kept for ever. Set it with kafka-configs --alter.`,
      )
    }
    return {
      partitionCount: metadata.topics.get(topic)?.partitionsCount ?? 0,
      maxMessageBytes: checkMessageBytes(topic, valueOf('max.message.bytes')),
    }
  } finally {
    await Promise.all([admin.close(), client.close()])
  }
}
