import { inject } from 'vitest'

import { connectKafka } from './kafka-brokers.ts'
import type { KafkaBrokers } from './kafka-brokers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the broker that `start-shared-broker.ts` has started. */
    readonly sharedBroker: string
  }
}

/** A broker that the tests of all files share: each uses its own names of topics and groups, and none stops it. */
export function sharedKafka(): KafkaBrokers {
  return connectKafka([inject('sharedBroker')])
}
