import { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'
import type { Acl } from '@platformatic/kafka'

import type { KafkaBrokers } from './kafka-brokers.ts'

/** The topic or group, by name, to which permissions apply. */
export type Resource = readonly [kind: 'TOPIC' | 'GROUP', name: string]

function rule(
  user: string,
  [kind, name]: Resource,
  operation: keyof typeof AclOperations,
  permission: keyof typeof AclPermissionTypes,
): Acl {
  return {
    resourceType: ResourceTypes[kind],
    resourceName: name,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: '*',
    operation: AclOperations[operation],
    permissionType: AclPermissionTypes[permission],
  }
}

/** Permits a user to do only this. */
export async function allow(
  { admin }: KafkaBrokers,
  user: string,
  resource: Resource,
  operations: readonly (keyof typeof AclOperations)[],
): Promise<void> {
  await admin.createAcls({ creations: operations.map((operation) => rule(user, resource, operation, 'ALLOW')) })
}

/** Revokes a permission from a user that may do everything else. @returns A function that grants it again */
export async function deny(
  { admin }: KafkaBrokers,
  user: string,
  resource: Resource,
  operation: keyof typeof AclOperations,
): Promise<() => Promise<void>> {
  const denial = rule(user, resource, operation, 'DENY')
  await admin.createAcls({ creations: [denial, rule(user, resource, 'ALL', 'ALLOW')] })
  return async () => {
    await admin.deleteAcls({ filters: [denial] })
  }
}
