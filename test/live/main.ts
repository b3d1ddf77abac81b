/**
 * Runs real libraries with spanscore attached, against a scripted model: `npm run test:live`; `-- --only LangChain` for those
 * whose name is or holds the text (may be repeated), `--scenario 'tool error'` for some scenarios, `--spans` to print what was exported,
 * `--scores` what was scored.
 */
import { parseArgs } from 'node:util'

import { readOtlpJson } from '../../src/otlp/json.ts'
import { complaintsAbout } from './complaints.ts'
import { complaintsAboutExample, exampleNames } from './examples.ts'
import { exceptions, explain } from './exceptions.ts'
import type { Exception } from './exceptions.ts'
import { createApplication, installLibrary, packForApplications } from './install.ts'
import { LIBRARIES } from './libraries.ts'
import type { Library } from './libraries.ts'
import { runLibrary } from './run-library.ts'
import type { Outcome } from './run-library.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    scenario: { type: 'string', default: '' },
    spans: { type: 'boolean', default: false },
    scores: { type: 'boolean', default: false },
  },
})
const names = [...LIBRARIES.map(({ name }) => name), ...exampleNames().map((name) => `examples/${name}`)]
const wanted = new Set(
  values.only.flatMap((text) => (names.includes(text) ? [text] : names.filter((name) => name.includes(text)))),
)
if (wanted.size === 0)
  throw new RangeError(`Expected --only to name one of ${names.join(', ')}; got ${values.only.join(', ')}.`)
const libraries = LIBRARIES.filter(({ name }) => wanted.has(name))
const tarball = packForApplications()
let passed = 0
let failed = 0
const notRun: { readonly library: string; readonly error: string }[] = []
const used = new Set<Exception>()
for (const library of libraries) {
  const outcome = await test(library).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  const isExpected = library.fails?.test(outcome ?? '') ?? outcome === undefined
  if (library.fails === undefined && isExpected) continue
  if (isExpected) notRun.push({ library: library.name, error: library.fails?.exec(outcome ?? '')?.[0] ?? '' })
  else failed += 1
  console.log(
    `${library.name}: ${isExpected ? 'cannot be run' : `✗ ${outcome ?? 'runs, though it is listed as failing'}`}`,
  )
}
if (notRun.length > 0) console.table(notRun)
for (const name of exampleNames().filter((example) => wanted.has(`examples/${example}`))) {
  const complaints = await complaintsAboutExample(name, tarball).catch((error: unknown) => [String(error)])
  if (complaints.length === 0) passed += 1
  else failed += 1
  console.log(`examples/${name}: ${complaints.length === 0 ? 'runs' : `✗ ${complaints.join('\n    ')}`}`)
}
// Only a run of everything shows whether an exception is needed.
const isWhole = wanted.size === names.length && values.scenario === ''
const unneeded = exceptions.filter((exception) => !used.has(exception) && exception.isByChance !== true)
for (const { library, scenario, why } of isWhole ? unneeded : []) {
  console.log(`✗ no difference needs this exception: ${library} ${scenario}, ${why}`)
  failed += 1
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

async function test(library: Library): Promise<void> {
  const started = performance.now()
  const installed = installLibrary(library)
  const ready = performance.now()
  using application = createApplication(installed, tarball)
  const outcomes = await runLibrary(library, application, { only: values.scenario })
  const lines: string[] = []
  let exact = 0
  for (const outcome of outcomes) {
    const { complaints, excused } = explain(library, outcome, await complaintsAbout(library, outcome), used)
    if (values.spans) printSpans(outcome)
    if (values.scores)
      console.log(JSON.stringify(outcome.evaluations.map(({ run: { id }, ...rest }) => ({ ...rest, id }))))
    if (complaints.length === 0) passed += 1
    else failed += 1
    if (complaints.length + excused.length === 0) exact += 1
    else lines.push(`  ${outcome.scenario.name}`)
    lines.push(
      ...complaints.map((complaint) => `    ✗ ${complaint}`),
      ...excused.map((reason) => `    not exact: ${reason}`),
    )
  }
  const times = `${seconds(started, ready)} s to install, ${seconds(ready, performance.now())} s to run`
  console.log(`${library.name}: ${exact} of ${outcomes.length} exact, ${times}`)
  for (const line of lines) console.log(line)
}

function seconds(from: number, to: number): string {
  return ((to - from) / 1_000).toFixed(1)
}

/** The exported spans in the order of their ends, attributes cut. */
function printSpans({ exported }: Outcome): void {
  for (const span of exported.traces.flatMap((request) => readOtlpJson(request)?.spans ?? [])) {
    const parent = span.parentSpanId ?? 'none'
    console.log(`${span.traceId} ${span.spanId} below ${parent}: ${span.name} (${span.scope.name})`)
    for (const [key, value] of Object.entries(span.attributes)) {
      console.log(`    ${key} = ${JSON.stringify(value)?.slice(0, 160)}`)
    }
  }
}
