/** Mulberry32: a small generator with a seed, so that a simulation is the same every time. */
export function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How many events happen by chance if `mean` happen on average (Knuth). */
export function poisson(mean: number, random: () => number): number {
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > limit; product *= random()) count += 1
  return count
}

/** How many of `count` events happen if each has this probability. */
export function binomial(count: number, probability: number, random: () => number): number {
  if (probability >= 1) return count
  let happened = 0
  for (let each = 0; each < count; each += 1) if (random() < probability) happened += 1
  return happened
}
