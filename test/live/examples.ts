import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'
import { createApplication, installLibrary } from './install.ts'
import { LIBRARIES } from './libraries.ts'
import { complaintsAboutNextjs } from './nextjs-example.ts'
import { complaintsAboutPython } from './python-example.ts'

export const EXAMPLES = resolve(import.meta.dirname, '../../examples')

/** The library of `libraries.ts` whose packages each example runs with. */
const LIBRARY_OF: Readonly<Record<string, string>> = {
  'ai-sdk': 'AI SDK 7',
  'anthropic-sdk': 'Anthropic loop by OpenInference',
  langchain: 'createAgent by OpenInference',
  langgraph: 'StateGraph by OpenInference',
  mastra: 'Mastra by OtelBridge',
  'openai-agents': 'OpenAI Agents, responses',
  'openai-sdk': 'OpenAI chat by OpenInference',
}

/** The folders of the examples, except for the demo, which has its own test. */
export function exampleNames(): string[] {
  return readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'demo')
    .map(({ name }) => name)
}

/** Runs an example without a key. @returns What is wrong, one sentence each. */
export async function complaintsAboutExample(name: string, tarball: string): Promise<string[]> {
  if (name === 'nextjs') return complaintsAboutNextjs(join(EXAMPLES, name), tarball)
  if (name === 'python') return complaintsAboutPython(join(EXAMPLES, name))
  const library = LIBRARIES.find((candidate) => candidate.name === LIBRARY_OF[name])
  if (library === undefined) return [`expected a library for the example ${name} in test/live/examples.ts`]
  using application = createApplication(installLibrary(library), tarball)
  cpSync(EXAMPLES, join(application.folder, 'examples'), { recursive: true })
  await using receiver = await createOtlpReceiver()
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['examples/offline.mjs', process.execPath, `examples/${name}/main.mjs`],
    {
      cwd: application.folder,
      timeout: 60_000,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRICS_EXPORTER: 'none',
      },
    },
  )
  const scores = receiver.spans.filter((span) => span.attributes['spanscore.tool_call_accuracy.score'] === 1)
  const explained = scores.map((span) => span.attributes['spanscore.tool_call_accuracy.explanation'])
  const page = readFileSync(join(EXAMPLES, '../docs/quickstart.md'), 'utf8')
  return [
    ...explained
      .filter((text) => !page.includes(`explanation': '${String(text)}'`))
      .map((text) => `the docs do not show ${String(text)}`),
    ...undeclared(name, library.packages),
    ...(stdout.includes('It is 4 degrees in Oslo.') ? [] : [`the answer is not printed: ${stdout}${stderr}`]),
    ...(stdout.includes('weather_agent: tool_call_accuracy is 1') ? [] : [`the score is not printed: ${stdout}`]),
    ...(scores.length === 1 ? [] : [`${scores.length} exported spans have the score 1, expected one`]),
  ]
}

/** Every package of the example's manifest is one that it is run with, in that version. */
function undeclared(name: string, packages: Readonly<Record<string, string>>): string[] {
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(EXAMPLES, name, 'package.json'), 'utf8'),
  )
  return Object.entries(manifest.dependencies)
    .filter(([dependency, range]) => dependency !== 'spanscore' && range !== `^${packages[dependency]}`)
    .map(([dependency, range]) => `package.json has ${dependency} ${range}, and it is run with ${packages[dependency]}`)
}
