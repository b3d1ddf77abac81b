import { refuseNode } from '../model/node-version.ts'

type NodeCrypto = typeof import('node:crypto')

let loaded: NodeCrypto | undefined

/**
 * `node:crypto`, loaded at first use: importing it would cost 4 MB and a third of the time at every application start.
 *
 * @throws Error in a version of Node.js that is too old.
 */
export function nodeCrypto(): NodeCrypto {
  if (loaded !== undefined) return loaded
  const refusal = refuseNode()
  if (refusal !== undefined) throw new Error(refusal)
  loaded = process.getBuiltinModule('node:crypto')
  return loaded
}
