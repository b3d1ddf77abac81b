import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import { configFileIn, loadConfigFile, thisProcess } from '../../../src/engine/config/config-file.ts'
import { optionsFromEnvironment, withEnvironment } from '../../../src/engine/config/environment.ts'
import { resolveOptions } from '../../../src/engine/config/options.ts'
import type { ResolvedOptions } from '../../../src/engine/config/options.ts'
import type { ScoringOptions } from '../../../src/engine/config/scoring-options.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { askJudges } from './ask-judges.ts'
import { configFindings, nodeFinding } from './diagnose.ts'
import type { DoctorLine } from './facts.ts'
import { toScoringFacts } from './scoring-facts.ts'

const NOTHING_YET = { runs: { seen: 0, closed: 0, open: 0, evicted: 0, late: 0, duplicates: 0 }, scorers: {} }

/** Checks what can be checked without running the application. */
export async function checkFiles(
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
  asks: boolean,
): Promise<readonly DoctorLine[]> {
  const findings: DoctorLine[] = [nodeFinding(process.version), packageFinding(cwd, '@opentelemetry/api')]
  optionsFromEnvironment(environment, (message) =>
    findings.push({ isGood: false, text: `Environment: ${message}`, cure: 'See docs/reference/environment.md.' }),
  )
  const options = readConfig(cwd, environment, findings)
  if (options === undefined) return findings
  findings.push(...configFindings(toScoringFacts(options, NOTHING_YET)))
  if (!asks) return findings
  const scorers = options.scorers.map(({ scorer }) => scorer)
  for (const { scorer, model, isAnswered, message } of await askJudges(scorers, 20_000)) {
    const text = `Judge ${model} (${scorer}) was asked once, and ${isAnswered ? 'answered' : 'gave no answer'}.`
    findings.push(isAnswered ? { isGood: true, text } : { isGood: false, text, cure: message })
  }
  return findings
}

function readConfig(
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
  findings: DoctorLine[],
): ResolvedOptions | undefined {
  const path = environment['SPANSCORE_CONFIG']
  if ((path ?? '').trim() === '' && configFileIn(cwd) === undefined) {
    const text = 'Configuration file: none here. Only spanscore/register and the commands score and canary need one.'
    findings.push({ isGood: true, text })
    return undefined
  }
  try {
    const file = loadConfigFile({ ...thisProcess(), cwd, path })
    const options: unknown = withEnvironment(
      file,
      optionsFromEnvironment(environment, () => undefined),
    )
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- resolveOptions checks every property of it
    const resolved = resolveOptions(options as ScoringOptions, true)
    findings.push({ isGood: true, text: 'Configuration file: it loads, and its options are valid.' })
    return resolved
  } catch (error) {
    const cure = error instanceof Error ? error.message : String(error)
    findings.push({ isGood: false, text: 'Configuration file: it cannot be used.', cure })
    return undefined
  }
}

/** Whether an application in this folder can load a package. */
function packageFinding(cwd: string, name: string): DoctorLine {
  try {
    const resolved = createRequire(join(cwd, 'index.js')).resolve(name)
    const folder = resolved.slice(
      0,
      resolved.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length,
    )
    const manifest = join(folder, 'package.json')
    const parsed: unknown = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : undefined
    const version = isRecord(parsed) && typeof parsed['version'] === 'string' ? ` ${parsed['version']}` : ''
    return { isGood: true, text: `Package ${name}${version}.` }
  } catch {
    return { isGood: false, text: `Package ${name} is not installed.`, cure: `npm install ${name}` }
  }
}
