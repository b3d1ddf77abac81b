/**
 * What each rule of the reading of runs is worth: a function is made to return nothing, or a hook is taken from every dialect, and all recorded
 * scenarios are read again.
 *
 *     node scripts/ablate.ts [NAME…]
 *
 * prints for each rule how many scenarios change, and in how many recordings. A rule in common code that changes fewer than five scenarios, or
 * those of one recording, belongs into the dialect of its library, or goes.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The file below `src`, the function, and what it returns in place of its result. A part that is not there is reported. */
const FUNCTIONS: readonly (readonly [file: string, name: string, value: string])[] = [
  ['runs/layout/regroup-flat.ts', 'regroupFlat', ''],
  ['runs/layout/nest-below-tools.ts', 'nestBelowTools', ''],
  ['runs/layout/lost-parents.ts', 'nestLost', ''],
  ['runs/layout/duplicates.ts', 'nestDuplicateCalls', ''],
  ['runs/layout/duplicates.ts', 'dropDuplicateRuns', 'plans'],
  ['runs/layout/merge-split-traces.ts', 'mergeSplitTraces', 'all'],
  ['runs/layout/nest-agentless-runs.ts', 'nestAgentlessRuns', 'plans'],
  ['runs/layout/log-copies.ts', 'withoutLogCopies', 'logs'],
  ['runs/layout/record-ids.ts', 'inheritIds', ''],
  ['runs/view/resumed-calls.ts', 'resumedCalls', '[]'],
  ['runs/view/resumed-calls.ts', 'refusedCalls', '[]'],
  ['runs/view/output-tool.ts', 'outputToolOf', 'undefined'],
  ['runs/view/output-tool.ts', 'finalText', 'undefined'],
  ['runs/view/output-tool.ts', 'wrappersOf', '[]'],
  ['runs/view/file-search.ts', 'fileSearches', '[]'],
  ['runs/view/run-ending.ts', 'endsInAbortedTool', 'false'],
  ['runs/view/run-ending.ts', 'endsOnTools', 'false'],
  ['runs/view/run-ending.ts', 'wasCutOff', 'false'],
  ['runs/view/join-tool-calls.ts', 'joinByBareName', 'tools'],
  ['runs/view/join-tool-calls.ts', 'joinBySpanName', 'tools'],
  ['runs/view/join-tool-calls.ts', 'isRetried', 'false'],
  ['runs/view/tool-call.ts', 'readsAsLostError', 'false'],
  ['runs/view/tool-call.ts', 'readsAsError', 'false'],
  ['runs/view/tool-call.ts', 'readsAsRejection', 'false'],
  ['runs/view/tool-call.ts', 'readsAsRefusal', 'false'],
  ['spans/content/states.ts', 'questionIn', 'undefined'],
  ['spans/content/states.ts', 'answerInState', 'undefined'],
  ['spans/content/states.ts', 'textsIn', '[]'],
  ['spans/content/python-literal.ts', 'parsePythonLiteral', 'undefined'],
  ['spans/content/role-prefixes.ts', 'fromRolePrefixes', 'undefined'],
  ['spans/content/moved-content.ts', 'withMovedContent', 'span'],
  ['spans/content/server-tools.ts', 'toServerToolParts', 'undefined'],
  ['spans/content/gemini.ts', 'withFunctionResults', 'message'],
  ['spans/content/gemini.ts', 'withGrounding', 'message'],
  ['spans/cut-json.ts', 'parseCutJson', 'undefined'],
  ['spans/outcome.ts', 'isAbort', 'false'],
  ['spans/outcome.ts', 'isInterrupt', 'false'],
  ['spans/outcome.ts', 'isGraphCommand', 'false'],
  ['spans/content/langchain.ts', 'finalAnswer', 'undefined'],
  ['spans/content/langchain.ts', 'resumptionBy', 'undefined'],
  ['spans/content/langchain.ts', 'graphRole', 'undefined'],
]

/** Hooks of dialects, and their quirks, which are taken from all dialects. */
const HOOKS = ['aside', 'isSingleRun', 'hasFinalForm', 'transcript', 'resumption', 'runnerOf', 'mayHideCalls']
  .concat(['toolSpans', 'callsInInput', 'absence', 'conversationIn', 'retrieval', 'documents', 'outcome'])
  .concat(
    ['modelsEncloseLoops', 'modelsNest', 'isOfClient', 'formOfTwo', 'isFlat', 'startsBesideItsTool', 'requestId']
      .concat(['isNoConversation', 'resumedFrom', 'endsWithoutSum', 'returnsLastText'])
      .map((quirk) => `quirks.${quirk}`),
  )

/** Reads all recordings, and prints a line for each scenario: the recording, the scenario, and a hash of its runs. */
const READ = `
import { createHash } from 'node:crypto'
import { allDialects } from './src/spans/dialects/all.ts'
import { buildRuns } from './src/runs/build-runs.ts'
import { libraryNames, loadLibrary, readScenario } from './test/corpus/load.ts'
const hook = process.argv[2]
for (const dialect of allDialects) {
  if (hook?.startsWith('quirks.') && dialect.quirks) dialect.quirks = { ...dialect.quirks, [hook.slice(7)]: undefined }
  else if (hook) delete dialect[hook]
}
for (const library of libraryNames()) for (const scenario of loadLibrary(library)) {
  const { spans, logs } = readScenario(scenario)
  console.log([library, scenario.id, createHash('sha1').update(JSON.stringify(buildRuns(spans, { logs }))).digest('hex')].join('\\t'))
}
`

const root = mkdtempSync(join(tmpdir(), 'ablate-'))
try {
  for (const folder of ['src', 'test/corpus', 'package.json', 'tsconfig.json']) {
    cpSync(folder, join(root, folder), { recursive: true })
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
  writeFileSync(join(root, 'read.ts'), READ)
  ablate()
} finally {
  rmSync(root, { recursive: true })
}

function ablate(): void {
  const names = process.argv.slice(2)
  const isWanted = (name: string): boolean => names.length === 0 || names.includes(name)
  const before = read()
  console.log(`${before.length} scenarios`)
  for (const hook of HOOKS.filter(isWanted)) print(hook, before, () => read(hook))
  for (const [file, name, value] of FUNCTIONS.filter(([, each]) => isWanted(each))) {
    const path = join(root, 'src', file)
    const text = readFileSync(path, 'utf8')
    const at = text.search(new RegExp(`^(?:export )?function\\*? ?${name}\\b`, 'm'))
    if (at === -1) {
      console.log(`${name}: not in ${file}`)
      continue
    }
    // The body begins at the first brace that ends a line, after the name and the parameters.
    const start = text.indexOf('{\n', at) + 1
    writeFileSync(path, `${text.slice(0, start)} if (Date.now() > 0) return ${value};${text.slice(start)}`)
    print(name, before, () => read())
    writeFileSync(path, text)
  }
}

function print(name: string, before: readonly string[], readAgain: () => readonly string[]): void {
  let now: readonly string[]
  try {
    now = readAgain()
  } catch {
    console.log(`${name.padEnd(26)} cannot be left out`)
    return
  }
  const changed = before.filter((line, index) => line !== now[index]).map((line) => line.split('\t', 1)[0] ?? '')
  const recordings = [...new Set(changed)]
  const few = changed.length < 5 || recordings.length < 2 ? '  too few' : ''
  const [scenarios, libraries] = [String(changed.length).padStart(5), String(recordings.length).padStart(4)]
  console.log(
    `${name.padEnd(26)} ${scenarios} scenarios ${libraries} recordings${few}  ${recordings.slice(0, 3).join(', ')}`,
  )
}

function read(...hook: readonly string[]): readonly string[] {
  const args = ['read.ts', ...hook]
  const printed = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1e9 })
  return printed.trimEnd().split('\n')
}
