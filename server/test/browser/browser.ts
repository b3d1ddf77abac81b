import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import axe from 'axe-core'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'

/** The path of Debian's Chromium, or of another one that the environment variable names. */
export const CHROMIUM: string = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** @param more further arguments @throws Error if there is no Chromium. */
export function launch(...more: readonly string[]): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`Expected Chromium at ${CHROMIUM}, found none: apt-get install chromium, or set CHROMIUM_PATH.`)
  }
  // Chromium has no sandbox without namespaces, as in most containers. It only loads the page of this machine.
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', ...more],
  })
}

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** The serious and critical violations of WCAG 2.2 AA that axe finds, as texts. */
export async function seriousProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) => violations)`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join('\n')}`,
    )
}

const images = join(import.meta.dirname, '../../../docs/images/page')

/** Takes a screenshot for the docs, as WebP, if that is requested. It is not the default, because screenshots differ with every font. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env['SPANSCORE_PICTURES'] === undefined) return
  mkdirSync(images, { recursive: true })
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 90 })
  writeFileSync(join(images, `${name}.webp`), data, 'base64')
}
