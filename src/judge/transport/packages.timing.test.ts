import { spawnSync } from 'node:child_process'

import { expect, it } from 'vitest'

it('loads a provider package over several turns of the event loop', () => {
  // In a process of its own, which has loaded none of it.
  const script = `
    const cpuMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000 }
    const { loadProvider } = await import(process.argv[1])
    let [longest, last, isDone] = [0, 0, false]
    const watch = () => { const now = cpuMs(); longest = Math.max(longest, now - last); last = now; if (!isDone) setImmediate(watch) }
    const before = last = cpuMs()
    setImmediate(watch)
    await loadProvider('@ai-sdk/openai')
    isDone = true
    await new Promise((resolve) => setImmediate(resolve))
    console.log(longest / (cpuMs() - before))`
  const packages = new URL('packages.ts', import.meta.url).href
  const shares = [1, 2, 3].map(() => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, packages], {
      encoding: 'utf8',
    })
    expect(stderr).not.toMatch(/Error/)
    return Number(stdout)
  })
  expect(Math.min(...shares)).toBeLessThan(0.7)
})
