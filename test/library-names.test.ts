import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { allDialects } from '../src/spans/dialects/all.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

const runs = join(import.meta.dirname, '..', 'src', 'runs')

/** The names of dialects, of their attributes, and of the scopes of recorded libraries. Quirks of a library are fields of its dialect. */
function namesOfLibraries(): readonly string[] {
  const names = allDialects.flatMap((dialect) => [
    dialect.name,
    ...(dialect.namespaces ?? []),
    ...(dialect.names ?? []),
    ...(dialect.kindKeys ?? []),
    ...(dialect.contentKeys ?? []).map((key) => key.replace('*', '')),
  ])
  const scopes = libraryNames().flatMap((library) =>
    loadLibrary(library)
      .slice(0, 1)
      .flatMap((scenario) => readScenario(scenario).spans.map(({ scope }) => scope.name)),
  )
  // Short words (`ai`, `input`) also belong to the domain.
  return [...new Set([...names, ...scopes])].filter((name) => /[._:@/-]/.test(name) && name.length > 3)
}

it('runs/ knows no scope, dialect or attribute of a library', () => {
  const names = namesOfLibraries()
  expect(names.length).toBeGreaterThan(100)
  const found = readdirSync(runs, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const code = readFileSync(join(runs, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      const texts = [...code.matchAll(/'[^'\n]*'|`[^`]*`|\/[^/\n ]+\/[a-z]*/g)].map(([text]) => text)
      return texts
        .filter((text) => !text.startsWith("'.") && names.some((name) => text.includes(name)))
        .map((text) => `${file}: ${text}`)
    })
  expect(found).toEqual([])
})
