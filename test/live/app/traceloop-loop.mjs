import { withAgent, withTool, withWorkflow } from '@traceloop/node-server-sdk'

export function traceAgent(run, loop) {
  return withWorkflow({ name: 'chat', inputParameters: [{ question: run.input }] }, () =>
    withAgent({ name: run.agent, inputParameters: [run.input] }, loop),
  )
}

export function traceTool({ name, args }, execute) {
  return withTool({ name }, (_args) => execute(), args)
}
