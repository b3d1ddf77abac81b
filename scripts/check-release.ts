/** Runs before `npm publish`, and refuses while the metadata of a package still has placeholders of the `example.com` domain. */
import { readFileSync } from 'node:fs'

const found = ['package.json', 'cli/package.json', 'server/package.json'].flatMap((file) => {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .flatMap((line, index) => (line.includes('example.com') ? [`${file}:${index + 1} ${line.trim()}`] : []))
})
if (found.length > 0) {
  console.error(`Not released: expected the addresses of the repository, got placeholders:\n${found.join('\n')}`)
  process.exitCode = 1
}
