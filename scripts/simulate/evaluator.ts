import {
  BEST,
  FALLS,
  FREEZE,
  LEAST,
  LEAST_MONTHLY,
  MONTHLY,
  PAGE,
  RUNNING_FALL,
  RUNNING_SPARE,
  SECONDS,
  TWELFTH,
} from '../rules/limits.ts'
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

/** A level that scores are compared with, and the running evidence of a fall below it. */
interface Level {
  readonly kind: 'target' | 'usual'
  readonly measure: 'mean' | 'passed'
  readonly isByHand: boolean
  value: number | undefined
  running: number
}

/** One line of `spanscore:evidence`. */
interface Line {
  readonly key: string
  readonly level: Level
  readonly fall: number
  readonly window: Window
  /** The last twelfth of the window, which must be bad, too. */
  readonly lately: Window
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
  readonly #longest: Window
  readonly #added = noIncreases()
  #learntAtHour = Number.NaN
  #isWorse = false

  constructor(levels: Levels, counters: Counters, minutes: number) {
    this.#counters = counters
    this.#together = levels.together
    this.#past = new Past(minutes)
    const { windows, longest, known, lines } = linesOf(levels)
    this.#windows = windows
    this.#longest = longest
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
    const note = (level: Level, key: string, value: number, counts: boolean) => {
      if (wantsAll) evidence.set(`${level.kind} ${level.measure} ${key}`, value)
      if (level.kind === 'usual' && value > FREEZE) isWorse = true
      if (counts && (now === undefined || value > now)) now = value
    }
    const isAdded = this.#counters.added(minute, this.#added)
    for (const level of this.#levels) {
      const value = isAdded ? this.#run(level) : undefined
      if (value !== undefined) note(level, `running ${RUNNING_FALL}`, value, true)
    }
    for (const line of this.#lines) {
      const value = this.#evidence(line)
      if (value === undefined) continue
      note(line.level, line.key, value, (this.#explained(line, line.lately) ?? 0) > 0)
    }
    this.#isWorse = isWorse
    return { evidence, now }
  }

  /** Adds the last minute to the running evidence of a level. Returns it as the rules compare it. */
  #run(level: Level): number | undefined {
    const { w, increases, isKnown } = this.#longest
    const { value: good, measure } = level
    if (good === undefined || !isKnown || good - RUNNING_FALL < LEAST) return undefined
    const added = this.#added
    const gained = measure === 'mean' ? added.wy : added.pass
    const lost = Math.max(0, added.pass + added.fail - gained)
    const fallen = good - RUNNING_FALL
    const nats = lost * Math.log((1 - fallen) / (1 - good)) + gained * Math.log(fallen / good)
    const independent = w ** 2 / squares(increases) / this.#together
    const busy = Math.log(Math.max(LEAST_MONTHLY, 10 * independent) / MONTHLY)
    const kept = Math.min(level.running, busy + PAGE + RUNNING_SPARE)
    level.running = Math.max(0, kept + (nats * this.#effective(measure, this.#longest)) / w / this.#together)
    return level.running - busy
  }

  #look(window: Window, minute: number): void {
    const { increases } = window
    const isKnown = this.#counters.increase(minute, window.minutes, increases)
    window.w = increases.pass + increases.fail
    window.isKnown = isKnown && window.w > 0 && squares(increases) > 0
  }

  #evidence(line: Line): number | undefined {
    const nats = this.#explained(line, line.window)
    if (nats === undefined) return undefined
    return (nats * this.#effective(line.level.measure, line.window)) / line.window.w / this.#together
  }

  #effective(measure: Level['measure'], { w, increases }: Window): number {
    const { pass, wy, w2pass, w2y, w2y2 } = increases
    const w2 = squares(increases)
    const isMean = measure === 'mean'
    const mean = Math.min(1, Math.max(0, (isMean ? wy : pass) / w))
    const spread = isMean ? spreadOf(mean, w2, w2y, w2y2) : passedSpread(mean, w2, w2pass)
    return effective(mean, w, w2, spread)
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

  /** What is usual: nothing new is learnt while the last minute's evidence spoke against it. */
  #learn(minute: number): void {
    // The hours that are looked back on change once an hour.
    const hour = Math.floor(minute / HOUR)
    if (this.#isWorse || this.#learntAtHour === hour) return
    this.#learntAtHour = hour
    for (const level of this.#levels) {
      if (level.kind === 'target' || level.isByHand) continue
      level.value = this.#past.usual(minute, level.measure, this.#together)
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
  const known = (['target', 'usual'] as const).flatMap((kind) =>
    (['mean', 'passed'] as const).map((measure): Level => {
      const given = kind === 'target' ? target[measure] : usual?.[measure]
      const value = given === undefined ? undefined : Math.min(BEST, given)
      return { kind, measure, isByHand: usual !== undefined, value, running: 0 }
    }),
  )
  const lines = known.flatMap((level) =>
    FALLS.map(({ window, fall }): Line => ({
      key: `${window} ${fall}`,
      level,
      fall,
      window: windowOf(window),
      lately: windowOf(TWELFTH[window]),
      good: Number.NaN,
      gain: 0,
      loss: 0,
    })),
  )
  const longest = windowOf('3d')
  return { windows: [...windows.values()], longest, known, lines }
}
