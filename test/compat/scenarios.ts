import type { Sdk } from './cells.ts'

/** One way to attach, in one kind of application. */
export interface Scenario {
  readonly name: string
  /** What `app/scenario.cjs` does. */
  readonly mode: 'off' | 'front' | 'beside' | 'attach' | 'bare' | 'vercel' | 'register' | 'sentry' | 'none'
  /** Arguments of `node`; the last is the application, an ES module or a CommonJS one. */
  readonly nodeArguments: readonly string[]
  /** The release lines of the SDK on which it exists. @default all */
  readonly sdks?: readonly Sdk[]
}

const REGISTER = 'spanscore/register'

/** The scenarios of each cell. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'processor in front of another, ESM', mode: 'front', nodeArguments: ['main.mjs'] },
  { name: 'processor beside another, CommonJS', mode: 'beside', nodeArguments: ['main.cjs'] },
  { name: 'attachScoring to NodeSDK, ESM', mode: 'attach', nodeArguments: ['main.mjs'] },
  { name: 'attachScoring to NodeSDK, CommonJS', mode: 'attach', nodeArguments: ['main.cjs'] },
  { name: 'attachScoring to a bare provider, no context manager', mode: 'bare', nodeArguments: ['main.mjs'] },
  {
    name: '--import register, then the SDK, ESM',
    mode: 'register',
    nodeArguments: ['--import', REGISTER, '--import', './start-sdk.mjs', 'main.mjs'],
  },
  {
    name: '--import the SDK, then register, CommonJS',
    mode: 'register',
    nodeArguments: ['--import', './start-sdk.mjs', '--import', REGISTER, 'main.cjs'],
  },
  {
    name: '--require register, then the SDK, CommonJS',
    mode: 'register',
    nodeArguments: ['--require', REGISTER, '--require', './start-sdk.cjs', 'main.cjs'],
  },
  {
    name: '--require the SDK, --import register, ESM',
    mode: 'register',
    nodeArguments: ['--require', './start-sdk.cjs', '--import', REGISTER, 'main.mjs'],
  },
  { name: 'attachScoring to @vercel/otel', mode: 'vercel', nodeArguments: ['main.mjs'], sdks: ['2.12'] },
  { name: 'attachScoring where Sentry 11 traces', mode: 'sentry', nodeArguments: ['main.mjs'], sdks: ['2.12'] },
  { name: 'attachScoring where nothing is registered', mode: 'none', nodeArguments: ['main.cjs'] },
]

/** The same application without spanscore, with whose spans the others are compared. */
export const BASELINE: Scenario = { name: 'without spanscore', mode: 'off', nodeArguments: ['main.mjs'] }
