import { startProbe } from './doctor/probe.ts'

// Set by `spanscore doctor`, for the processes that it starts.
const folder = process.env['SPANSCORE_DOCTOR_FOLDER']
if (folder !== undefined) {
  startProbe({
    folder,
    waitMs: Number(process.env['SPANSCORE_DOCTOR_WAIT_MS'] ?? 30_000),
    asks: process.env['SPANSCORE_DOCTOR_ASKS'] === 'true',
  })
}
