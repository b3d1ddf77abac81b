/**
 * Notices when messages of a topic have the times of their senders. The settings of topics are checked at the start, but they may be
 * changed while workers run.
 */
export class AppendTimes {
  readonly #report: (message: string) => void
  /** Topics whose latest batch has the time of its sender. */
  readonly #wrong = new Set<string>()
  readonly #reported = new Set<string>()

  constructor(report: (message: string) => void) {
    this.#report = report
  }

  /** What readiness says; `undefined` if all times are those of the brokers. */
  get unavailable(): string | undefined {
    const [topic] = this.#wrong
    return topic === undefined ? undefined : reasonOf(topic)
  }

  /**
   * Called when a topic was read.
   *
   * @param isAppendTime whether the times of the latest batch are the broker's
   */
  seen(topic: string, isAppendTime: boolean): void {
    if (isAppendTime) {
      this.#wrong.delete(topic)
      return
    }
    this.#wrong.add(topic)
    if (this.#reported.has(topic)) return
    this.#reported.add(topic)
    this.#report(reasonOf(topic))
  }
}

function reasonOf(topic: string): string {
  return `Messages of the topic ${topic} have the senders' times, not the brokers': a run could be scored before its spans are there. Set message.timestamp.type=LogAppendTime with kafka-configs --alter.`
}
