import { readFileSync } from 'node:fs'

/** What a process has used since the meter was created, as counted by Linux. */
export class ProcessUse {
  readonly #pid: number
  readonly #startCpuSeconds: number

  constructor(pid: number) {
    this.#pid = pid
    this.#startCpuSeconds = cpuSecondsOf(pid)
  }

  /** The processor time of all its threads, and the memory that it uses now. */
  read(): { readonly cpuSeconds: number; readonly rssMiB: number } {
    return { cpuSeconds: cpuSecondsOf(this.#pid) - this.#startCpuSeconds, rssMiB: memoryOf(this.#pid, 'VmRSS') }
  }
}

/** The peak memory of a process, in MiB. */
export function largestRssMiB(pid: number): number {
  return memoryOf(pid, 'VmHWM')
}

/** User and system time, which are counted in hundredths of a second. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kibibytes = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0
  return Math.round(Number(kibibytes) / 1024)
}
