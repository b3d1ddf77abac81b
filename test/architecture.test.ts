import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

import { CLI_ROOMS, ROOMS, SERVER_ROOMS } from './rooms.ts'
import type { Room } from './rooms.ts'

const sources = sourcesOf('src')

const cliSources = sourcesOf('cli/src')

const serverSources = sourcesOf('server/src')

function sourcesOf(folder: string): string[] {
  return globSync(`${folder}/**/*.ts`).filter((file) => !file.endsWith('.test.ts'))
}

/** Static imports and re-exports; `dynamic` adds guarded `import()` calls. */
function importsOf(file: string, dynamic = false): string[] {
  const text = readFileSync(file, 'utf8')
  const found = [...text.matchAll(/^(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm)].map(
    (match) => match[1]!,
  )
  if (dynamic) found.push(...[...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)].map((match) => match[1]!))
  return found
}

/** Names that a file exports where it declares them. */
function exportsOf(file: string): string[] {
  const declaration = /^export (?:declare )?(?:async )?(?:abstract )?(?:const|function\*?|class|interface|type) (\w+)/gm
  return [...readFileSync(file, 'utf8').matchAll(declaration)].map((match) => match[1]!)
}

/** What an entry exports from other files: the name in the file and the name in the entry. */
function reExportsOf(file: string): { name: string; original: string; origin: string }[] {
  const lists = [...readFileSync(file, 'utf8').matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)]
  return lists.flatMap(([, list = '', from = '']) =>
    list
      .split(',')
      .map((each) => each.trim().replace(/^type /, ''))
      .filter((each) => each !== '')
      .map((each) => {
        const [original = '', name = original] = each.split(' as ')
        return { name, original, origin: `${normalize(join(dirname(file), from))}#${original}` }
      }),
  )
}

/** The exported interfaces of options in a file, with the first line of each member. */
function optionInterfacesOf(file: string): { name: string; members: { line: string; isDocumented: boolean }[] }[] {
  const found = [
    ...readFileSync(file, 'utf8').matchAll(/^export interface (\w*(?:Options|Settings|Limits))\b[^]*?^\}/gm),
  ]
  return found.map(([text, name = '']) => {
    const lines = text.split('\n')
    const members = lines.flatMap((line, index) =>
      /^ {2}(?:readonly )?\w+\??[:(<]/.test(line)
        ? [{ line: line.trim(), isDocumented: lines[index - 1]?.trimEnd().endsWith('*/') === true }]
        : [],
    )
    return { name, members }
  })
}

/** Exported unions of texts, with all comments of the declaration. */
function unionsOf(file: string): { name: string; doc: string; values: string[] }[] {
  const text = readFileSync(file, 'utf8')
  const declaration =
    /((?:\/\*\*(?:(?!\*\/)[^])*\*\/\n)?)export type (\w+) =((?:\s*(?:\/\*\*(?:(?!\*\/)[^])*\*\/\s*)?\|? ?'[\w-]+')+)\n\n/g
  return [...text.matchAll(declaration)].map(([, above = '', name = '', body = '']) => {
    // A value with a comment of its own needs no mention of its name.
    const own = [...body.matchAll(/\*\/\s*\| ('[\w-]+')/g)].map((match) => match[1]!.slice(1, -1))
    const values = [...body.replaceAll(/\/\*\*(?:(?!\*\/)[^])*\*\//g, '').matchAll(/'([\w-]+)'/g)].map(
      (match) => match[1]!,
    )
    return { name, doc: [above, ...own].join(' '), values }
  })
}

function localImportsOf(file: string): string[] {
  const local = importsOf(file).filter((specifier) => specifier.startsWith('.'))
  return [...new Set(local.map((specifier) => normalize(join(dirname(file), specifier))))]
}

function reachableFrom(file: string, importsByFile: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>()
  const next = [...(importsByFile.get(file) ?? [])]
  for (let each = next.pop(); each !== undefined; each = next.pop()) {
    if (reached.has(each)) continue
    reached.add(each)
    next.push(...(importsByFile.get(each) ?? []))
  }
  return reached
}

const roomOf = (file: string) => file.split('/')[1]!

/** The folder below `folder` that a file is in; `undefined` if it is in `folder` itself, or outside. */
function folderBelow(folder: string, file: string): string | undefined {
  const [name, ...rest] = file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/') : []
  return rest.length > 0 ? name : undefined
}

/** What is wrong with the folders in `folder`: one that is not listed, or is gone, and imports from one that it does not know. */
function wrongRooms(
  folder: string,
  rooms: Readonly<Record<string, Room>>,
  files: readonly string[],
  isDeep = false,
): string[] {
  const found = new Set(files.flatMap((file) => folderBelow(folder, file) ?? []))
  const unlisted = [...found]
    .filter((name) => !(name in rooms))
    .map((name) => `${folder}/${name} is not in test/rooms.ts`)
  const gone = Object.keys(rooms)
    .filter((name) => !found.has(name))
    .map((name) => `${folder}/${name} is gone`)
  const reaching = files.flatMap((file) => {
    const own = folderBelow(folder, file)
    if (own === undefined) return []
    return importsOf(file, true)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => folderBelow(folder, normalize(join(dirname(file), specifier))))
      .filter((name) => name !== undefined && name !== own && rooms[own]?.knows.includes(name) === false)
      .map((name) => `${file} reaches into ${name}/`)
  })
  const inside = Object.entries(rooms).flatMap(([name, room]) =>
    // A folder in a folder may be arranged as it likes.
    isDeep ? [] : wrongRooms(`${folder}/${name}`, room.inside ?? {}, files, true),
  )
  return [...unlisted, ...gone, ...reaching, ...inside]
}

describe('the house', () => {
  it('has the folders of test/rooms.ts, each of which imports only from those that it knows', () => {
    expect(wrongRooms('src', ROOMS, sources)).toEqual([])
    expect(wrongRooms('cli/src', CLI_ROOMS, cliSources)).toEqual([])
    expect(wrongRooms('server/src', SERVER_ROOMS, serverSources)).toEqual([])
  })

  it('has no circular imports, imports of types included', () => {
    const importsByFile = new Map(
      [...sources, ...cliSources, ...serverSources].map((file) => [file, localImportsOf(file)]),
    )
    /** Files that import themselves through other files. */
    const circles = [...importsByFile.keys()].filter((file) => reachableFrom(file, importsByFile).has(file))
    expect(importsByFile.get('src/entries/main.ts')?.length).toBeGreaterThan(10)
    expect(importsByFile.get('server/src/service.ts')?.length).toBeGreaterThan(10)
    expect(circles).toEqual([])
  })

  it('shows the command line nothing of the processor but how a process ends', () => {
    const reached = cliSources
      .filter((file) => !file.startsWith('cli/src/doctor/'))
      .flatMap((file) => importsOf(file, true).map((specifier) => normalize(join(dirname(file), specifier))))
      .filter((file) => file.startsWith('src/processor/'))
    expect(reached.filter((file) => file !== 'src/processor/node-process.ts')).toEqual([])
  })

  it('loads no package from the main entry but @opentelemetry/api', () => {
    const seen = new Set<string>()
    const packages = new Set<string>()
    const visit = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const text = readFileSync(file, 'utf8')
      for (const match of text.matchAll(/^(?:import|export)\s(?!type\s)(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm)) {
        const specifier = match[1]!
        if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)))
        else if (!specifier.startsWith('node:')) packages.add(specifier)
      }
    }
    for (const entry of ['main', 'register', 'scorers', 'noop']) visit(`src/entries/${entry}.ts`)
    expect([...packages].filter((name) => name !== '@opentelemetry/api')).toEqual([])
  })

  it('gives a name to one export alone, in all three packages', () => {
    const files = [...sources.filter((file) => roomOf(file) !== 'entries'), ...cliSources, ...serverSources]
    const exported = files.flatMap((file) => [...new Set(exportsOf(file))].map((name) => ({ name, file })))
    const groups = Object.entries(Object.groupBy(exported, ({ name }) => name))
    expect(exported.length).toBeGreaterThan(800)
    expect(groups.filter(([, found = []]) => found.length > 1).map(([name]) => name)).toEqual([])
  })

  it('exports the same thing under a name from every entry, and renames only what does nothing', () => {
    const exported = sources
      .filter((file) => roomOf(file) === 'entries')
      .flatMap((file) => reExportsOf(file).map((each) => ({ ...each, entry: file })))
    const real = exported.filter(({ entry }) => entry !== 'src/entries/noop.ts')
    const origins = Object.entries(Object.groupBy(real, ({ name }) => name))
    const several = origins.filter(([, found = []]) => new Set(found.map(({ origin }) => origin)).size > 1)
    expect(origins.length).toBeGreaterThan(150)
    expect(several.map(([name]) => name)).toEqual([])
    expect(real.filter(({ name, original }) => name !== original)).toEqual([])
    // Edge runtimes and browsers get values that do nothing, under the same names as in the main entry.
    const names = new Set(real.map(({ name }) => name))
    expect(exported.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([])
  })

  it('documents every member of options, settings and limits', () => {
    // The arguments of the service's command line are documented where they are declared, as options of commander.
    const files = [...sources, ...cliSources, ...serverSources].filter((file) => file !== 'server/src/given-options.ts')
    const interfaces = files.flatMap((file) => optionInterfacesOf(file))
    const members = interfaces.flatMap(({ name, members: found }) => found.map((each) => ({ ...each, name })))
    expect(members.length).toBeGreaterThan(200)
    expect(members.filter(({ isDocumented }) => !isDocumented).map(({ name, line }) => `${name}: ${line}`)).toEqual([])
  })

  it('documents every value of a public union', () => {
    const entries = sources.filter((file) => roomOf(file) === 'entries')
    const names = new Set(entries.flatMap((file) => reExportsOf(file)).map(({ name }) => name))
    const unions = sources.flatMap((file) => unionsOf(file)).filter(({ name }) => names.has(name))
    expect(unions.length).toBeGreaterThan(5)
    expect(
      unions.flatMap(({ name, doc, values }) =>
        values.filter((value) => !doc.includes(value)).map((value) => `${name}: ${value}`),
      ),
    ).toEqual([])
  })

  it('reaches no top-level await from any entry, so that CommonJS can require it', () => {
    const awaiting = sources.filter((file) =>
      /^(?:await\s|(?:export\s+)?const\s[^=\n]+=\s*await\s|for await\b)/m.test(readFileSync(file, 'utf8')),
    )
    expect(awaiting).toEqual([])
  })

  it('speaks of itself alone', () => {
    const words = /\/work\/|polyglot|\bregistry\.npmjs|\.mirror\b/
    expect([...sources, ...cliSources].filter((file) => words.test(readFileSync(file, 'utf8')))).toEqual([])
  })
})
