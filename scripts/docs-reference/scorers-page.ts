import type { Scorer } from '../../src/entries/scorers.ts'
import { createPrebuilt, prebuiltScorers } from '../../src/scorers/all.ts'
import { declarationsOf } from './declarations.ts'
import type { Declaration, Property } from './declarations.ts'
import { code, page, table } from './markdown.ts'
import { oneLine } from './tsdoc.ts'

/** Options of every scorer or every judge, which have their own table. */
const COMMON = new Set(['ScorerOptions', 'JudgeScorerOptions'])

/** `docs/reference/scorers.md`: the options of each prebuilt scorer. */
export function scorersPage(): string {
  const all = new Map(declarationsOf('src/entries/scorers.ts').map((declaration) => [declaration.name, declaration]))
  return page(
    'Options of the scorers',
    'What each scorer measures is in [The scorers](../scorers.md), and types are in the [API](api.md). A wrong or unknown option throws and names what was expected.',
    '## Every scorer',
    optionTable(ownProperties('ScorerOptions', all), all),
    '## Every scorer by judge',
    'All settings of `judge` are [here](options.md#judge).',
    optionTable(ownProperties('JudgeScorerOptions', all), all),
    ...Object.entries(prebuiltScorers).flatMap(([name, { create, example }]) =>
      section(create.name, createPrebuilt(name, example), all),
    ),
    '## `createScorer`',
    'Builds [a scorer of your own](../custom-scorers.md).',
    optionTable(ownProperties('CreateScorerOptions', all), all),
  )
}

type Declarations = ReadonlyMap<string, Declaration>

function section(factory: string, { id, kind, range, better, passAt }: Scorer, all: Declarations): string[] {
  const own = optionsTypeOf(factory, all)
  const properties = ownProperties(own, all)
  const direction = better === 'higher' ? 'or more' : 'or less'
  return [
    `## ${code(factory)}`,
    `${code(id)}, by ${kind}. Range ${range.join(' to ')}, ${better} is better. Passes at ${passAt} ${direction}.`,
    properties.length === 0 ? 'It has no further options.' : optionTable(properties, all),
  ]
}

/** The name of the type of a factory's parameter. */
function optionsTypeOf(factory: string, all: Declarations): string {
  const name = /\b(\w+Options)\b/.exec(all.get(factory)?.code ?? '')?.[1]
  if (name === undefined) throw new Error(`expected ${factory} to take options`)
  return name
}

/** The properties of a type of options, without those that all scorers have. */
function ownProperties(name: string, all: Declarations): readonly Property[] {
  const declaration = all.get(name)
  if (declaration === undefined) throw new Error(`expected the entry to export ${name}`)
  const alias = /^type \w+ = (\w+)$/.exec(declaration.code)?.[1]
  if (alias !== undefined) return COMMON.has(alias) ? [] : ownProperties(alias, all)
  const base = /^interface [^{]*? extends (\w+) \{/.exec(declaration.code)?.[1]
  const inherited = base === undefined || COMMON.has(base) ? [] : ownProperties(base, all)
  return [...inherited, ...(declaration.properties ?? [])]
}

function optionTable(properties: readonly Property[], all: Declarations): string {
  return table(['option', 'type', 'default', 'meaning'], rowsOf(properties, '', all))
}

function rowsOf(properties: readonly Property[], prefix: string, all: Declarations): string[][] {
  return properties.flatMap((property) => {
    const { name, type, isOptional, comment } = property
    const nested = property.properties ?? (/^\w+Options$/.test(type) ? all.get(type)?.properties : undefined)
    if (nested !== undefined) return rowsOf(nested, `${prefix}${name}.`, all)
    return [
      [
        code(`${prefix}${name}`),
        code(oneLine(type)),
        comment.default ?? (isOptional ? '' : 'required'),
        oneLine(comment.summary),
      ],
    ]
  })
}
