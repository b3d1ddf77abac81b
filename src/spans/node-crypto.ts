import { complainOfNode } from '../model/node-version.ts'

type NodeCrypto = typeof import('node:crypto')

let loaded: NodeCrypto | undefined

/**
 * `node:crypto`, loaded at first use: importing it would cost 3 MB at every application start.
 *
 * @throws Error in a version of Node.js that is too old.
 */
export function nodeCrypto(): NodeCrypto {
  if (loaded !== undefined) return loaded
  const { version } = process
  // The function is missing in old versions.
  if (!('getBuiltinModule' in process)) throw new Error(complainOfNode(version))
  loaded = process.getBuiltinModule('node:crypto')
  return loaded
}
