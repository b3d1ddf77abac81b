#!/usr/bin/env node
import { runCli } from './run-cli.ts'

// A reader that has seen enough (`| head`) closes the pipe: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`spanscore: cannot write the output: ${error.message}\n`)
  process.exit(2)
})

const context = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, environment: process.env }
// oxlint-disable-next-line unicorn/prefer-top-level-await -- main files are compiled with the library, which has none
void runCli(process.argv.slice(2), context).then((code) => {
  process.exitCode = code
})
