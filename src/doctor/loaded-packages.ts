import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { isRecord } from '../spans/json.ts'

/** Packages that the report names. */
const RELEVANT =
  /^(?:@opentelemetry\/(?:api|sdk-[\w-]+|instrumentation-[\w-]+)|@arizeai\/[\w-]+|@traceloop\/[\w-]+|@ai-sdk\/[\w-]+|@mastra\/core|@langchain\/[\w-]+|ai|langfuse|openai|spanscore)$/

/** Watches which packages this process loads from now on, ES modules and CommonJS; gives their versions. */
export function watchLoadedPackages(): () => Readonly<Record<string, string>> {
  const manifests = new Map<string, string>()
  // Not imported: an older Node.js, which has no such function, would refuse to load this file, and with it the application.
  process.getBuiltinModule?.('node:module').registerHooks?.({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const [, folder, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(resolved.url) ?? []
      if (folder !== undefined && name !== undefined && RELEVANT.test(name) && !manifests.has(name)) {
        manifests.set(name, `${folder}/package.json`)
      }
      return resolved
    },
  })
  return () => Object.fromEntries([...manifests].map(([name, manifest]) => [name, versionIn(manifest)]))
}

function versionIn(manifest: string): string {
  try {
    const parsed: unknown = JSON.parse(readFileSync(fileURLToPath(manifest), 'utf8'))
    return isRecord(parsed) && typeof parsed['version'] === 'string' ? parsed['version'] : 'of an unknown version'
  } catch {
    return 'of an unknown version'
  }
}
