import { withWorkflow } from '@traceloop/node-server-sdk'

export function around(run, ask) {
  return withWorkflow({ name: 'chat', inputParameters: [{ question: run.input }] }, ask)
}
