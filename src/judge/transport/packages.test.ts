import { globSync, readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { loadProvider } from './packages.ts'

it('is the only place that imports optional packages, in a way that bundlers support', () => {
  const importing = globSync('src/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8')
      return [...text.matchAll(/(.*)\bimport\((.*)\)$/gm)].map(([line]) => ({ file, line: line.trim() }))
    })
    // A dependency of ours is always there, and so is a file of ours. The command line, which nobody bundles, also loads files by their path.
    .filter(
      ({ line }) =>
        !/'@bufbuild\/protobuf|import\((?:'\.{1,2}\/|pathToFileURL\()/.test(line) && !line.includes('type '),
    )
  expect(new Set(importing.map(({ file }) => file))).toEqual(new Set(['src/judge/transport/packages.ts']))
  const text = readFileSync('src/judge/transport/packages.ts', 'utf8')
  const inTry = [...text.matchAll(/\btry \{([^}]*)\}/g)].map(([, body]) => body).join('')
  for (const { line } of importing) {
    expect(inTry).toContain(line)
    expect(line).toMatch(/import\(('[^']+'|\/\* webpackIgnore: true \*\/ \/\* turbopackIgnore: true \*\/ .*)\)/)
  }
})

it('finds a provider by its package name alone', async () => {
  await expect(loadProvider('@ai-sdk/openai-compatible')).resolves.toHaveProperty('createOpenAICompatible')
  await expect(loadProvider('@ai-sdk/openai')).resolves.toHaveProperty('createOpenAI')
  await expect(loadProvider('@ai-sdk/nobody-made-this')).rejects.toThrow(/@ai-sdk\/nobody-made-this/)
})
