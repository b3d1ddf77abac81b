import { readFileSync } from 'node:fs'

/** The version of the command line. The path is the same from the sources and from the bundle. */
export function readVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
