import {
  apiVersionsV3,
  fetchV13,
  fetchV14,
  fetchV15,
  fetchV16,
  fetchV17,
  findCoordinatorV4,
  findCoordinatorV5,
  findCoordinatorV6,
  heartbeatV4,
  joinGroupV7,
  joinGroupV8,
  joinGroupV9,
  leaveGroupV4,
  leaveGroupV5,
  listOffsetsV7,
  listOffsetsV8,
  listOffsetsV9,
  offsetCommitV8,
  offsetCommitV9,
  offsetFetchV8,
  offsetFetchV9,
  produceV10,
  produceV11,
  produceV9,
  syncGroupV4,
  syncGroupV5,
} from '@platformatic/kafka'

// The versions of each request that workers and the client library know.

export const FETCH = [fetchV13.api, fetchV14.api, fetchV15.api, fetchV16.api, fetchV17.api]
export const FETCH_OFFSETS = [offsetFetchV8.api, offsetFetchV9.api]
export const FIND_COORDINATOR = [findCoordinatorV4.api, findCoordinatorV5.api, findCoordinatorV6.api]
export const HEARTBEAT = [heartbeatV4.api]
export const JOIN = [joinGroupV7.api, joinGroupV8.api, joinGroupV9.api]
export const LEAVE = [leaveGroupV4.api, leaveGroupV5.api]
export const LIST_OFFSETS = [listOffsetsV7.api, listOffsetsV8.api, listOffsetsV9.api]
export const COMMIT = [offsetCommitV8.api, offsetCommitV9.api]
export const PRODUCE = [produceV9.api, produceV10.api, produceV11.api]
export const SYNC = [syncGroupV4.api, syncGroupV5.api]

/** Asks a broker which versions it knows. */
export const API_VERSIONS = apiVersionsV3.api

/** What every broker must know. Kafka 3.1 was the first one that does. */
export const NEEDED_REQUESTS: readonly (readonly { readonly key: number; readonly version: number }[])[] = [
  FETCH,
  FETCH_OFFSETS,
  FIND_COORDINATOR,
  HEARTBEAT,
  JOIN,
  LEAVE,
  LIST_OFFSETS,
  COMMIT,
  PRODUCE,
  SYNC,
]
