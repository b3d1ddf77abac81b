type NodeCrypto = typeof import('node:crypto')

let loaded: NodeCrypto | undefined

/** `node:crypto`, loaded at first use: importing it would cost 3 MB at every application start. */
export function nodeCrypto(): NodeCrypto {
  loaded ??= process.getBuiltinModule('node:crypto')
  return loaded
}
