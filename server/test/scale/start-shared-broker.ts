import type { TestProject } from 'vitest/node'

import { startKafka } from './kafka-cluster.ts'

/** Starts the broker that tests share, and stops it after all of them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kafka = await startKafka(1)
  project.provide('sharedBroker', kafka.brokers[0] ?? '')
  return () => kafka.close()
}
