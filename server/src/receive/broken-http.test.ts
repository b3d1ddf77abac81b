import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { once } from 'node:events'

import { expect, test } from 'vitest'

import { countBrokenHttp } from './broken-http.ts'
import type { Receiver } from './receive.ts'

test('A sender of gRPC at the port of OTLP/HTTP is named once', async () => {
  const lines: string[] = []
  const receiver: Pick<Receiver, 'report' | 'refuse'> = {
    report: (line) => void lines.push(line),
    refuse: (error) => error as ReturnType<Receiver['refuse']>,
  }
  const server = createServer()
  countBrokenHttp(server, receiver)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  for (let index = 0; index < 2; index++) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
  }
  server.close()
  expect(lines).toEqual([expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf')])
})
