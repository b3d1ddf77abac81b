import { Agent, request } from 'node:http'

/** Number of senders that work in parallel, each with its own connection. */
const SENDERS = 4

const agent = new Agent({ keepAlive: true, maxSockets: SENDERS })

/**
 * Sends compressed requests, and repeats each until the answer is a success.
 *
 * @returns How long it took, and how often a sender was asked to come back later.
 */
export async function sendAll(
  url: string,
  bodies: readonly Buffer[],
): Promise<{ readonly seconds: number; readonly again: number }> {
  const startMs = performance.now()
  let next = 0
  let again = 0
  const sender = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      for (;;) {
        const status = await send(url, body)
        if (status === 200) break
        if (status !== 503) throw new Error(`The service answered ${status}.`)
        again += 1
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
  return { seconds: (performance.now() - startMs) / 1000, again }
}

function send(url: string, body: Buffer): Promise<number> {
  const headers = {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'gzip',
    'content-length': body.byteLength,
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    // The service closes connections that are idle for too long, and may do so at the moment when one is used again.
    sent.on('error', (error) => (sent.reusedSocket ? resolve(send(url, body)) : reject(error)))
    sent.end(body)
  })
}
