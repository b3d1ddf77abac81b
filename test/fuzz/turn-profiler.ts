import { Session } from 'node:inspector'
import type { Profiler } from 'node:inspector'

/** The number of functions that are named from the heaviest path. */
const NAMED = 8

/** Samples which code runs, so that a turn that takes long can be explained by what ran in it. */
export class TurnProfiler {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.setSamplingInterval', { interval: 1000 })
  }

  start(): void {
    this.#session.post('Profiler.start')
  }

  /** Ends sampling. The returned function names what ran between two moments, in milliseconds of `performance.now()`. */
  stop(): (beginMs: number, endMs: number) => string {
    let profile: Profiler.Profile | undefined
    // The inspector of its own thread answers synchronously.
    this.#session.post('Profiler.stop', (_error, result: Profiler.StopReturnType | undefined) => {
      profile = result?.profile
    })
    return (beginMs, endMs) => (profile === undefined ? 'no profile' : heaviestPath(profile, beginMs, endMs))
  }
}

/** The path from the outermost to the innermost function that had most of the samples: `a < b` is `a`, called by `b`. */
function heaviestPath(
  { nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile,
  beginMs: number,
  endMs: number,
) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const counts = new Map<number, number>()
  // Both clocks count from the same moment; that of the profile is in microseconds.
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()
  let [atUs, total] = [startTime, 0]
  for (const [index, sample] of samples.entries()) {
    atUs += timeDeltas[index] ?? 0
    const atMs = atUs / 1000 - offsetMs
    if (atMs < beginMs || atMs > endMs) continue
    total += 1
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  const path: string[] = []
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (let node = nodes[0]; node !== undefined;) {
    const { functionName, url, lineNumber } = node.callFrame
    const place = url === '' ? '' : ` ${url.split('/').at(-1) ?? ''}:${lineNumber + 1}`
    path.push(`${functionName || '(anonymous)'}${place} (${counts.get(node.id) ?? 0})`)
    const [next] = (node.children ?? []).toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
    node = next !== undefined && (counts.get(next) ?? 0) >= total / 3 ? byId.get(next) : undefined
  }
  return `${total} samples: ${path.toReversed().slice(0, NAMED).join(' < ')}`
}
