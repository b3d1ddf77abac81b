import type { CliCommand } from './command.ts'
import { calibrateCommand } from './commands/calibrate.ts'
import { canaryCommand } from './commands/canary.ts'
import { casesCommand } from './commands/cases.ts'
import { commonCommand } from './commands/common.ts'
import { doctorCommand } from './commands/doctor.ts'
import { inspectCommand } from './commands/inspect.ts'
import { judgeCheckCommand } from './commands/judge-check.ts'
import { mcpCommand } from './commands/mcp.ts'
import { scoreCommand } from './commands/score.ts'
import { serveCommand } from './commands/serve.ts'
import { viewCommand } from './commands/view.ts'

/** The commands of `spanscore`, in the order in which the help lists them. */
export const allCommands: readonly CliCommand[] = [
  scoreCommand,
  commonCommand,
  inspectCommand,
  viewCommand,
  mcpCommand,
  casesCommand,
  calibrateCommand,
  canaryCommand,
  judgeCheckCommand,
  doctorCommand,
  serveCommand,
]
