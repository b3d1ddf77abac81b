export { startServer } from './start.ts'
export type { RunningServer, ServerOptions } from './start.ts'
export { openView, startView } from './page/view.ts'
export type { OpenView, RunningView, ViewOptions } from './page/view.ts'
