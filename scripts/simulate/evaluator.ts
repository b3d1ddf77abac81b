import { BEST, FALLS, FREEZE, LEAST, SECONDS, TWELFTH } from '../rules/limits.ts'
import { noIncreases, squares } from './counters.ts'
import type { Counters, Increases } from './counters.ts'
import { effective, passedSpread, Past, spreadOf } from './past.ts'

const HOUR = 60

/** The levels that a series is compared with. */
export interface Levels {
  /** The targets; absent if none is set. */
  readonly mean?: number
  readonly passed?: number
  readonly together: number
  /** The usual level, set by hand; learnt if it is absent. */
  readonly usual?: { readonly mean?: number | undefined; readonly passed?: number | undefined } | undefined
}

/** The results of the rules at one minute. */
export interface Reading {
  /** By `<kind> <measure> <window> <fall>`, by the labels of `spanscore:evidence`; empty if it was not requested. */
  readonly evidence: ReadonlyMap<string, number>
  /** The largest `spanscore:evidence:now`; `undefined` if there is none. */
  readonly now: number | undefined
}

/** The sums of one window at this minute. */
interface Window {
  readonly minutes: number
  readonly increases: Increases
  /** Whether the rules have sums of it. */
  isKnown: boolean
  w: number
}

/** A level that scores are compared with: a target, or what is usual before a window. */
interface Level {
  readonly kind: 'target' | 'usual'
  readonly measure: 'mean' | 'passed'
  readonly windowMinutes: number
  readonly isByHand: boolean
  value: number | undefined
  learntAtHour: number
}

/** One line of `spanscore:evidence`. */
interface Line {
  readonly key: string
  readonly level: Level
  readonly fall: number
  readonly window: Window
  /** The last twelfth of the window, if it pages only while that is bad, too. */
  readonly lately: Window | undefined
  /** The level that the logarithms below belong to. */
  good: number
  gain: number
  loss: number
}

/** Evaluates the shipped rules for one series of scores, minute by minute, as `collector-config/rules/spanscore.yml` has them. */
export class Evaluator {
  readonly #counters: Counters
  readonly #together: number
  readonly #past: Past
  readonly #windows: readonly Window[]
  readonly #levels: readonly Level[]
  readonly #lines: readonly Line[]
  #isWorse = false

  constructor(levels: Levels, counters: Counters, minutes: number) {
    this.#counters = counters
    this.#together = levels.together
    this.#past = new Past(minutes)
    const { windows, known, lines } = linesOf(levels)
    this.#windows = windows
    this.#levels = known
    this.#lines = lines
  }

  /** Must be called for every minute, in order. */
  at(minute: number, wantsAll = false): Reading {
    if (minute % HOUR === 0) this.#past.keepHour(this.#counters, minute)
    for (const window of this.#windows) this.#look(window, minute)
    this.#learn(minute)
    const evidence = new Map<string, number>()
    let now: number | undefined
    let isWorse = false
    for (const line of this.#lines) {
      const value = this.#evidence(line, line.window)
      if (value === undefined) continue
      if (wantsAll) evidence.set(line.key, value)
      if (line.level.kind === 'usual' && value > FREEZE) isWorse = true
      if (now !== undefined && value <= now) continue
      if (line.lately !== undefined && !((this.#explained(line, line.lately) ?? 0) > 0)) continue
      now = value
    }
    this.#isWorse = isWorse
    return { evidence, now }
  }

  #look(window: Window, minute: number): void {
    const { increases } = window
    const isKnown = this.#counters.increase(minute, window.minutes, increases)
    window.w = increases.pass + increases.fail
    window.isKnown = isKnown && window.w > 0 && squares(increases) > 0
  }

  #evidence(line: Line, window: Window): number | undefined {
    const nats = this.#explained(line, window)
    if (nats === undefined) return undefined
    const { w, increases } = window
    const { pass, wy, w2pass, w2y, w2y2 } = increases
    const w2 = squares(increases)
    const isMean = line.level.measure === 'mean'
    const mean = Math.min(1, Math.max(0, (isMean ? wy : pass) / w))
    const spread = isMean ? spreadOf(mean, w2, w2y, w2y2) : passedSpread(mean, w2, w2pass)
    return (nats * effective(mean, w, w2, spread)) / w / this.#together
  }

  /** The evidence if each unit of weight were a run; its sign is that of the evidence. */
  #explained(line: Line, window: Window): number | undefined {
    const good = line.level.value
    if (good === undefined || !window.isKnown || good - line.fall < LEAST) return undefined
    if (line.good !== good) {
      line.good = good
      line.gain = Math.log((1 - (good - line.fall)) / (1 - good))
      line.loss = Math.log((good - line.fall) / good)
    }
    const { w, increases } = window
    const gained = line.level.measure === 'mean' ? increases.wy : increases.pass
    return Math.max(0, w - gained) * line.gain + gained * line.loss
  }

  /** What is usual, for each window: nothing new is learnt while the last minute's evidence spoke against it. */
  #learn(minute: number): void {
    if (this.#isWorse) return
    for (const level of this.#levels) {
      if (level.kind === 'target' || level.isByHand) continue
      const until = minute - level.windowMinutes
      // The hours that are looked back on change once an hour.
      const hour = Math.floor(until / HOUR)
      if (level.learntAtHour === hour) continue
      level.learntAtHour = hour
      level.value = this.#past.surelyReached(until, level.measure, this.#together)
    }
  }
}

const minutesOf = (window: string) => (SECONDS[window] ?? 0) / 60

function linesOf({ usual, ...target }: Levels) {
  const windows = new Map<string, Window>()
  const windowOf = (name: string) => {
    const window = windows.get(name) ?? {
      minutes: minutesOf(name),
      increases: noIncreases(),
      isKnown: false,
      w: 0,
    }
    windows.set(name, window)
    return window
  }
  const levels = new Map<string, Level>()
  const levelOf = (kind: Level['kind'], measure: Level['measure'], window: string) => {
    const key = `${kind} ${measure} ${kind === 'target' ? '' : window}`
    const given = kind === 'target' ? target[measure] : usual?.[measure]
    const level = levels.get(key) ?? {
      kind,
      measure,
      windowMinutes: minutesOf(window),
      isByHand: usual !== undefined,
      value: given === undefined ? undefined : Math.min(BEST, given),
      learntAtHour: Number.NaN,
    }
    levels.set(key, level)
    return level
  }
  const lines = (['target', 'usual'] as const).flatMap((kind) =>
    (['mean', 'passed'] as const).flatMap((measure) =>
      FALLS.map(({ window, fall }): Line => {
        const twelfth = TWELFTH[window]
        return {
          key: `${kind} ${measure} ${window} ${fall}`,
          level: levelOf(kind, measure, window),
          fall,
          window: windowOf(window),
          lately: twelfth === undefined ? undefined : windowOf(twelfth),
          good: Number.NaN,
          gain: 0,
          loss: 0,
        }
      }),
    ),
  )
  return { windows: [...windows.values()], known: [...levels.values()], lines }
}
