/**
 * Names ids briefly: `call_1 to call_300, missing`. A range names three or more consecutive ids.
 */
export function nameIds(ids: readonly string[]): string {
  const names: string[] = []
  for (let start = 0; start < ids.length;) {
    let end = start
    while (follows(ids[end], ids[end + 1])) end++
    if (end - start >= 2) {
      names.push(`${ids[start]} to ${ids[end]}`)
    } else {
      names.push(...ids.slice(start, end + 1))
    }
    start = end + 1
  }
  return names.join(', ')
}

function follows(one: string | undefined, other: string | undefined): boolean {
  const [, prefix, number] = /^(.*?)(0|[1-9]\d{0,8})$/.exec(one ?? '') ?? []
  return number !== undefined && other === `${prefix}${Number(number) + 1}`
}
