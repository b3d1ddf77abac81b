/** The far end of the measured agent, in a process of its own: a model that speaks OpenAI's API, and a collector that takes everything. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createScriptedOpenAIServer } from 'spanscore/testing'

const model = await createScriptedOpenAIServer(({ messages }) =>
  messages.some(({ role }) => role === 'tool')
    ? 'It rains in Oslo at 4 degrees, and the next train to Bergen leaves at 08:03.'
    : {
        toolCalls: [
          { id: 'call_1', name: 'weather-tool', arguments: { city: 'Oslo' } },
          { id: 'call_2', name: 'train-tool', arguments: { from: 'Oslo', to: 'Bergen' } },
        ],
      },
)
const collector = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
})
collector.listen(0, '127.0.0.1', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = collector.address() as AddressInfo
  process.send?.({ model: model.url, collector: `http://127.0.0.1:${port}` })
})
process.on('disconnect', () => process.exit())
