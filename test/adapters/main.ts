/**
 * Runs the adapters against the real packages, which are installed in a folder of their own: `npm run test:adapters`. The
 * folder is kept between runs.
 */
import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { installPackages, packProject } from '../install-packages.ts'

const cache = process.env['SPANSCORE_COMPAT_CACHE'] ?? join(homedir(), '.cache', 'spanscore-compat')
const folder = join(cache, 'adapters')
const tarball = packProject(join(cache, 'tarballs'))
installPackages(folder, {
  name: 'adapters',
  private: true,
  type: 'module',
  dependencies: {
    '@langchain/core': '1.4.0',
    '@mastra/core': '1.71.0',
    '@mastra/evals': '1.10.2',
    '@opentelemetry/api': '1.9.1',
    autoevals: '0.3.0',
    openai: '6.49.0',
    openevals: '0.2.2',
    spanscore: `file:${tarball.path}`,
    zod: '4.6.7',
  },
})
cpSync(join(import.meta.dirname, 'app'), folder, { recursive: true })
execFileSync(process.execPath, ['--test', 'adapters.test.mjs'], { cwd: folder, stdio: 'inherit' })
