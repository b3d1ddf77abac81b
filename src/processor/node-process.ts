/** A processor's hooks at the end of the process. */
export interface ExitHooks {
  /** The event loop is empty, and the process is about to exit by itself. */
  readonly release: () => void
  /** The process exits now, without an error. Only synchronous work is possible. */
  readonly exited: () => void
}

/** The hooks of all processors of this copy of the package. They share one listener for each event. */
const hooks = new Set<ExitHooks>()

/** Calls the hooks at the end of the process. Returns a function that removes them, and the listeners with the last of them. */
export function atExit(added: ExitHooks): () => void {
  if (hooks.size === 0) process.on('beforeExit', release).on('exit', exited)
  hooks.add(added)
  return () => {
    if (hooks.delete(added) && hooks.size === 0) process.off('beforeExit', release).off('exit', exited)
  }
}

function release(): void {
  for (const each of hooks) each.release()
}

function exited(code: number): void {
  if (code === 0) for (const each of hooks) each.exited()
}
