import type { Random } from './random.ts'

const KEYS = ['__proto__', 'constructor', 'toString', 'then', 'toJSON', 'length']

const schema = (pattern: string): string =>
  JSON.stringify([
    {
      type: 'function',
      name: 'weather-tool',
      parameters: {
        properties: { location: { pattern }, id: { $ref: '#' } },
        patternProperties: { [pattern]: { pattern } },
      },
    },
  ])

function thrower(): never {
  throw new Error('trap')
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function circular(): unknown {
  const value: Record<string, unknown> = { role: 'user' }
  value['parts'] = [value]
  return value
}

const makers: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => undefined,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -0,
  () => 1e300,
  () => 10n ** 60n,
  () => 2 ** 53 + 1,
  () => '',
  () => '\uD800',
  () => '\u0000\u001B]8;;\u0007',
  () => `${'a'.repeat(31)}!`,
  () => `${'['.repeat(1900)}${']'.repeat(1900)}`,
  () => `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  () => '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  () => '[{"role":"__proto__","parts":[{"type":"constructor"},null,1]}]',
  () => '[null,1,"x",[[]],{}]',
  () => [[], [null], { a: { b: [] } }],
  () => ({ toJSON: () => undefined }),
  () =>
    Object.defineProperty({}, 'trap', {
      enumerable: true,
      get() {
        throw new Error('trap')
      },
    }),
  () => () => 1,
  () => Symbol('s'),
  () => new Date(Number.NaN),
  () => new Uint8Array(3),
  () => revoked(),
  () => circular(),
  () => Object.assign([], { length: 2 ** 32 - 1 }),
  () => [['x', 1, null], 'y', [Symbol('s')]],
  () => new Map([['content', 'x']]),
  () => Object.assign(Object.create(null), { content: 'x', role: 'user' }),
  () => new Proxy({}, { ownKeys: thrower, get: thrower, has: thrower, getPrototypeOf: thrower }),
  () => new Proxy([], { get: thrower }),
  () => Object.assign(['x'], { toJSON: thrower }),
  () => schema('^(\\w+\\s?)+$'),
  () => schema('(?=a)(b)\\1'),
  () => schema('((a{1,30}){1,30}){1,30}'),
  () => '\n'.repeat(20_000),
  () => `Error: ${'Tool "'.repeat(2000)}`,
  () => 'x'.repeat(50_000),
  (random) =>
    JSON.stringify([
      {
        role: 'assistant',
        parts: Array.from({ length: 1 + random.integer(40) }, (_, index) => ({
          type: 'tool_call',
          id: random.chance(0.3) ? 'same' : String(index),
          name: random.pick([...KEYS, 'weather-tool']),
          arguments: { [random.pick(KEYS)]: 1, location: `${'a'.repeat(40)}!` },
        })),
      },
    ]),
]

/** A value that no library writes, or none should. */
export function strangeValue(random: Random): unknown {
  return random.pick(makers)(random)
}

/** An attribute key that no library writes. */
export function strangeKey(random: Random): string {
  return random.pick(KEYS)
}
