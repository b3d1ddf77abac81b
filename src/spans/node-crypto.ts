type NodeCrypto = typeof import('node:crypto')

let loaded: NodeCrypto | undefined

/** `node:crypto`, loaded when something is first hashed or drawn: an `import` of it would cost every start of the application 3 MB. */
export function nodeCrypto(): NodeCrypto {
  loaded ??= process.getBuiltinModule('node:crypto')
  return loaded
}
