import { describeGroupsV5, listGroupsV4 } from '@platformatic/kafka'

import { decodeSubscription } from './consumer-protocol.ts'
import { PROTOCOL } from './group-member.ts'
import type { KafkaClient } from './kafka-client.ts'

/**
 * Other groups of workers that currently read one of these topics, and would score the same runs.
 *
 * @throws if a broker is unavailable, or does not allow looking at groups
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
    // A broker lists the groups that it coordinates, with their members.
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
