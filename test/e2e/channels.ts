/** The far ends of messages: a server that takes what Alertmanager sends to Slack, and one that takes e-mails. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { Socket } from 'node:net'

/** What Slack is sent of a message. */
export interface SlackMessage {
  readonly title: string
  readonly fallback: string
  readonly text: string
  readonly color: string
}

export interface Email {
  readonly subject: string
  readonly html: string
}

export interface Channels {
  readonly slackUrl: string
  /** Host and port for SMTP without TLS. */
  readonly smtp: string
  readonly slack: readonly SlackMessage[]
  readonly emails: readonly Email[]
  readonly close: () => void
}

export async function startChannels(): Promise<Channels> {
  const slack: SlackMessage[] = []
  const emails: Email[] = []
  const web = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { attachments }: { attachments: SlackMessage[] } = JSON.parse(Buffer.concat(chunks).toString())
      slack.push(...attachments)
      response.end('ok')
    })
  }).listen(0, '127.0.0.1')
  const mail = createTcpServer((socket) => receive(socket, (text) => emails.push(read(text)))).listen(0, '127.0.0.1')
  await Promise.all([once(web, 'listening'), once(mail, 'listening')])
  return {
    slackUrl: `http://${addressOf(web)}/`,
    smtp: addressOf(mail),
    slack,
    emails,
    close: () => {
      web.closeAllConnections()
      web.close()
      mail.close()
    },
  }
}

function addressOf(server: ReturnType<typeof createTcpServer>): string {
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

/** Speaks as much of SMTP as a client needs that has one message. */
function receive(socket: Socket, take: (text: string) => void): void {
  const say = (line: string) => socket.write(`${line}\r\n`)
  let unread = ''
  let message: string[] | undefined
  socket.on('error', () => undefined)
  socket.on('data', (data) => {
    const lines = (unread + data.toString('latin1')).split('\r\n')
    unread = lines.pop() ?? ''
    for (const line of lines) {
      if (message !== undefined && line !== '.') message.push(line.replace(/^\./, ''))
      else if (message !== undefined) {
        take(message.join('\n'))
        message = undefined
        say('250 taken')
      } else if (/^DATA/i.test(line)) {
        message = []
        say('354 go on')
      } else if (/^QUIT/i.test(line)) {
        say('221 bye')
        socket.end()
      } else say('250 ok')
    }
  })
  say('220 a server of a test')
}

function read(text: string): Email {
  const subject = /^Subject: ([^]*?)\n(?=\S)/m.exec(text)?.[1]?.replace(/\n\s*/g, ' ') ?? ''
  const part = /Content-Type: text\/html[^]*?\n\n([^]*?)\n--/i.exec(text)?.[1] ?? ''
  const bytes = part
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { subject, html: Buffer.from(bytes, 'latin1').toString() }
}
