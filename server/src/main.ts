#!/usr/bin/env node
import { readFileSync } from 'node:fs'

const manifest: { readonly engines: { readonly node: string } } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)
const needed = manifest.engines.node.replace('>=', '')

if (needed.localeCompare(process.versions.node, 'en', { numeric: true }) <= 0) {
  await import('./command-line.ts')
} else {
  // The following import would fail on an older version, with an error that names no version.
  process.stderr.write(
    `spanscore-server: Expected Node.js ${needed} or later, got ${process.version}. Start with a newer Node.js.\n`,
  )
  process.exitCode = 2
}
