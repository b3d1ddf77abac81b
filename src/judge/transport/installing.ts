/**
 * What installs a package where this one looks for it. npx has a folder for each list of packages, which `npm install` does not reach.
 *
 * @param place the file that looks for the package
 * @param program the file that was started
 */
export function installing(
  packageName: string,
  place: string = import.meta.url,
  program: string | undefined = process.argv[1],
): string {
  if (!/[/\\]_npx[/\\]/.test(place)) return `npm install ${packageName}`
  const [own, command] = /spanscore[-/\\]server/.test(program ?? '')
    ? ['@spanscore/server', 'spanscore-server']
    : ['@spanscore/cli', 'spanscore']
  return `npx --package=${own} --package=${packageName} ${command} …`
}
