export { startServer } from './start.ts'
export type { RunningServer, ServerOptions } from './start.ts'
