import { declarationsOf } from './declarations.ts'
import type { Declaration, Property } from './declarations.ts'
import { code, page, table } from './markdown.ts'
import { oneLine } from './tsdoc.ts'

/** The entries that applications import, with what each is for. */
const ENTRIES = [
  [
    'spanscore',
    'main',
    'Attaching, and the types of runs and scores. It also exports everything of `spanscore/scorers/prebuilt`.',
  ],
  [
    'spanscore/scorers/prebuilt',
    'scorers',
    'Scorers by code and by judge, and `createScorer`. `spanscore/scorers/code`, `spanscore/scorers/llm` and `spanscore/llm` are the same entry.',
  ],
  ['spanscore/adapters', 'adapters', 'Scorers of other libraries.'],
  ['spanscore/runs', 'runs', 'Agent runs out of spans and files, without scoring them.'],
  ['spanscore/testing', 'testing', 'Judges, models and receivers for tests.'],
] as const

/** `docs/reference/api.md`: every export, by its TSDoc. */
export function apiPage(): string {
  const entries = ENTRIES.map(([name, file, purpose]) => ({
    name,
    purpose,
    declarations: declarationsOf(`src/entries/${file}.ts`),
  }))
  return page(
    'API',
    'Every export of the package. `spanscore/register` exports nothing: it is for `node --import`. `spanscore/engine` is for `@spanscore/server`, and may change without notice.',
    ...entries.flatMap(({ name, purpose, declarations }) => [
      `## ${code(name)}`,
      purpose,
      ...declarations.filter(isValue).flatMap(describe),
      ...declarations.filter((declaration) => !isValue(declaration)).flatMap(describe),
    ]),
  )
}

function isValue({ kind }: Declaration): boolean {
  return kind === 'function' || kind === 'class' || kind === 'const'
}

function describe({ name, code: source, comment, properties }: Declaration): string[] {
  const isTable = properties !== undefined && properties.length > 0 && /(?:Options|Settings|Limits|Entry)$/.test(name)
  return [
    `### ${code(name)}`,
    ...(comment.isExperimental ? ['_Experimental._'] : []),
    ...(comment.summary === '' ? [] : [comment.summary]),
    isTable ? `${propertyTable(properties)}${extending(source)}` : `\`\`\`ts\n${source}\n\`\`\``,
    ...(comment.parameters.length === 0 ? [] : [comment.parameters.map(parameter).join('\n')]),
    ...(comment.returns === undefined ? [] : [`Returns ${lowerFirst(comment.returns)}`]),
    ...comment.throws.map((thrown) => `Throws ${thrown}`),
    ...(comment.example === undefined ? [] : [comment.example]),
  ]
}

function propertyTable(properties: readonly Property[]): string {
  return table(
    ['option', 'type', 'default', 'meaning'],
    properties.map(({ name, type, isOptional, comment }) => [
      code(name),
      code(oneLine(type)),
      comment.default ?? (isOptional ? '' : 'required'),
      oneLine(comment.summary),
    ]),
  )
}

/** Names the interfaces that an interface extends. */
function extending(source: string): string {
  const others = /^interface [^{]*? extends ([^{]+) \{/.exec(source)?.[1]
  return others === undefined ? '' : `\n\nAlso the options of ${code(others)}.`
}

function parameter(text: string): string {
  const [name = '', ...words] = oneLine(text).split(' ')
  return `- ${code(name)}: ${words.join(' ').replace(/^- /, '')}`
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text
}
