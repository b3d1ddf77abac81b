export { startServer } from './start.ts'
export type { RunningServer, ServerOptions } from './start.ts'
export { startView } from './page/view.ts'
export type { RunningView, ViewOptions } from './page/view.ts'
