import { describeGroupsV5, listGroupsV4 } from '@platformatic/kafka'

import { decodeSubscription } from './consumer-protocol.ts'
import { PROTOCOL } from './group-member.ts'
import type { KafkaClient } from './kafka-client.ts'

/**
 * Other groups of workers that read one of these topics now: whatever they have in common with this one is scored by both.
 *
 * @throws where a broker is away, or does not let groups be looked at
 */
export async function otherGroups(
  client: KafkaClient,
  groupId: string,
  topics: readonly string[],
): Promise<readonly string[]> {
  const { brokers } = await client.metadata([], true)
  const found: string[] = []
  for (const node of brokers.keys()) {
    const listed = await client.send(node, [listGroupsV4.api], [], [])
    const ids = listed.groups
      .filter((group) => group.protocolType === 'consumer' && group.groupId !== groupId)
      .map((group) => group.groupId)
    if (ids.length === 0) continue
    // A broker lists the groups that it coordinates, and knows their members.
    const { groups } = await client.send(node, [describeGroupsV5.api], ids, false)
    const others = groups.filter(
      ({ protocolData, members }) =>
        protocolData === PROTOCOL &&
        members.some(({ memberMetadata }) =>
          decodeSubscription(memberMetadata).topics.some((topic) => topics.includes(topic)),
        ),
    )
    found.push(...others.map((group) => group.groupId))
  }
  return found
}
