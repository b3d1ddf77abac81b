import { complainOfNode } from '../../src/model/node-version.ts'

// A reader such as `| head` closes the pipe when it has seen enough, which is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`spanscore: cannot write the output: ${error.message}\n`)
  process.exit(2)
})

// The first one whose agents know proxies.
const complaint = complainOfNode(process.version, [22, 21])
if (complaint === undefined) {
  void start()
} else {
  process.stderr.write(`spanscore: ${complaint}\n`)
  process.exitCode = 2
}

/** Loads the program only after the version check, because older versions of Node.js may fail to parse it. */
async function start(): Promise<void> {
  const { runCli } = await import('./run-cli.ts')
  const { useProxies } = await import('../../src/judge/transport/proxies.ts')
  for (const line of useProxies(process.env)) process.stderr.write(`spanscore: ${line}\n`)
  const context = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, environment: process.env }
  process.exitCode = await runCli(process.argv.slice(2), context)
}
