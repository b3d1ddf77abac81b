import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The text of `third-party-licences.txt`, which ships with code of other packages.
 *
 * @param files the paths of all files in a build, of which those in `node_modules` count
 */
export function licencesOf(files: readonly string[]): string {
  const foreign = files.filter((path) => path.includes('node_modules/'))
  const byPackage = Object.groupBy(foreign, (path) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
  return Object.entries(byPackage)
    .toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([folder, own = []]) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a manifest of a package that is installed
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>
      const { name, version, license } = manifest
      return `${name} ${version}, ${license}\n\n${licenceIn(folder) ?? noticesOf(own)}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenceIn(folder: string): string | undefined {
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim()
}

/** The copyright notices at the beginning of files, each once. */
function noticesOf(files: readonly string[]): string {
  const notices = files.flatMap((file) => /^(?:\/\/.*\n)+/.exec(readFileSync(file, 'utf8'))?.[0] ?? [])
  if (notices.length === 0) throw new Error(`${files[0]}: expected a licence to ship with its code, found none.`)
  return [...new Set(notices)].map((notice) => notice.replaceAll(/^\/\/ ?/gm, '').trim()).join('\n\n')
}
