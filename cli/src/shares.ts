const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A share as per cent, where 0 % and 100 % mean none and all: `<1 %`, `8 %`, `>99 %`. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.01) return '<1 %'
  if (share < 1 && share > 0.99) return '>99 %'
  return `${Math.round(100 * share)} %`
}

/** A share as a bar of so many columns: empty for 0, and never empty otherwise. */
export function barOf(share: number, columns: number): string {
  const eighths = share === 0 ? 0 : Math.max(1, Math.round(share * columns * 8))
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`.padEnd(columns)
}
