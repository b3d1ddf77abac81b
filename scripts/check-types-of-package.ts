/**
 * Compares the types of the package with what each way of resolving modules finds. The package is made of the build that is
 * there: `attw --pack` would build once more, by `prepack`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = '.cache/package'
mkdirSync(folder, { recursive: true })
const printed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
})
execFileSync('node_modules/.bin/attw', [join(folder, printed.trim()), '--profile', 'esm-only'], { stdio: 'inherit' })
