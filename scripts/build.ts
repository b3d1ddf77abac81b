/**
 * Builds the package, the command line, the service and its page: `npm run build`. A part whose files are the same as in its last build is left as it
 * is, so that every other script can call this first.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const bin = join(root, 'node_modules/.bin')

interface Part {
  readonly folder: string
  /** The files that it is built from. */
  readonly inputs: readonly string[]
  readonly commands: readonly (readonly string[])[]
}

const common = ['package-lock.json', 'tsconfig.json', 'scripts/build.ts', 'src/**/*']
const parts: readonly Part[] = [
  {
    folder: 'dist',
    inputs: [...common, 'package.json', 'scripts/bundle.ts', 'scripts/licences.ts', 'scripts/bundled-packages.ts'],
    commands: [[process.execPath, 'scripts/bundle.ts', 'package']],
  },
  {
    folder: 'cli/dist',
    inputs: [
      ...common,
      'cli/package.json',
      'cli/src/**/*',
      'scripts/bundle.ts',
      'scripts/licences.ts',
      'scripts/bundled-packages.ts',
    ],
    commands: [[process.execPath, 'scripts/bundle.ts', 'command-line']],
  },
  {
    // The service is compiled against the declarations of the package.
    folder: 'server/dist',
    inputs: [...common, 'server/package.json', 'server/tsconfig.json', 'server/src/**/*', 'server/page/**/*'],
    commands: [
      [join(bin, 'tsc'), '-p', 'server'],
      [process.execPath, 'server/page/build.ts'],
    ],
  },
]

for (const { folder, inputs, commands } of parts) {
  const stamp = join(root, folder, '.built')
  const digest = digestOf(inputs)
  if (readIfThere(stamp) === digest) continue
  rmSync(join(root, folder), { recursive: true, force: true })
  for (const [program, ...args] of commands) {
    try {
      execFileSync(program ?? '', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    } catch {
      // The program has printed what is wrong.
      process.exit(1)
    }
  }
  writeFileSync(stamp, digest)
}

function digestOf(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of globSync(patterns, { cwd: root }).toSorted()) {
    const path = join(root, file)
    if (file.endsWith('.test.ts') || !statSync(path).isFile()) continue
    hash.update(`${file}\0`).update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
