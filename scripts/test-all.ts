/**
 * Every suite beside `npm test`, one after another, and a table of what came out: `npm run test:all`, `-- live page` for some of them.
 * A suite that needs what is not here is not run; the table then says what is missing.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { styleText } from 'node:util'

/** What is missing for a suite, as a sentence. */
type Need = () => string | undefined

interface Suite {
  readonly name: string
  /** After this time, the suite is ended with everything that it has started, and has failed. */
  readonly minutes: number
  readonly needs?: readonly Need[]
}

const registry: Need = () =>
  answers('npm', ['view', '@opentelemetry/api@1.9.1', 'version']) ? undefined : 'The npm registry cannot be reached.'
const programs: Need = () =>
  answers(process.execPath, ['scripts/e2e-tools.ts'])
    ? undefined
    : 'A real program is missing, and neither Go nor Docker can get it: node scripts/e2e-tools.ts.'
const java: Need = () =>
  answers('java', ['-version']) && answers('mvn', ['-version']) ? undefined : 'There is no Java, or no Maven.'
const browser: Need = () =>
  existsSync(process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium')
    ? undefined
    : 'There is no Chromium: apt-get install chromium, or set CHROMIUM_PATH.'

const suites: readonly Suite[] = [
  { name: 'live', minutes: 20, needs: [registry] },
  { name: 'compat', minutes: 60, needs: [registry] },
  { name: 'adapters', minutes: 10, needs: [registry] },
  { name: 'newest', minutes: 30, needs: [registry] },
  { name: 'timing', minutes: 30 },
  { name: 'recordings', minutes: 10 },
  { name: 'fuzz', minutes: 5 },
  { name: 'soak', minutes: 10 },
  { name: 'kills', minutes: 15 },
  { name: 'page', minutes: 10, needs: [browser] },
  { name: 'e2e', minutes: 25, needs: [programs] },
  { name: 'scale', minutes: 40, needs: [programs, java] },
]

const wanted = process.argv.slice(2)
for (const name of wanted) {
  if (!suites.some((suite) => suite.name === name)) {
    throw new RangeError(`Expected the names of suites (${suites.map((suite) => suite.name).join(', ')}), got ${name}.`)
  }
}

const rows: { readonly suite: string; readonly result: string; readonly seconds: number }[] = []
for (const suite of suites) {
  if (wanted.length > 0 && !wanted.includes(suite.name)) continue
  console.log(styleText('bold', `\n== npm run test:${suite.name}`))
  const startMs = performance.now()
  const missing = suite.needs?.map((need) => need()).find((each) => each !== undefined)
  const result = missing === undefined ? await run(suite) : `not run: ${missing}`
  rows.push({ suite: suite.name, result, seconds: Math.round((performance.now() - startMs) / 1000) })
}
console.log()
const width = Math.max(...rows.map(({ suite }) => suite.length))
for (const { suite, result, seconds } of rows) {
  console.log(`${suite.padEnd(width)}  ${String(seconds).padStart(5)} s  ${result}`)
}
if (rows.some(({ result }) => result.startsWith('failed'))) process.exitCode = 1

function answers(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
}

/** Runs a suite in a group of processes of its own. */
function run({ name, minutes }: Suite): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', `test:${name}`], {
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, minutes * 60_000)
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve(`failed: ${error.message}`)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (isLate) resolve(`failed: It did not end within ${minutes} minutes.`)
      else resolve(code === 0 ? 'passed' : `failed (${code ?? signal})`)
    })
  })
}
