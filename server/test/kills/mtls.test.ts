import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { credentials, status } from '@grpc/grpc-js'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startServer } from '../../src/start.ts'
import type { RunningServer } from '../../src/start.ts'
import { grpcExport } from '../grpc-export.ts'
import { serverOptions } from '../server-options.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-mtls-'))
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
const pem = (name: string) => readFileSync(join(folder, name), 'utf8')

/** A self-made certificate authority. */
function makeAuthority(name: string): void {
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.crt`,
  )
}

/** A certificate that an authority has signed. */
function makeCertificate(name: string, authority: string): void {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    `/CN=${name}`,
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
  )
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    `${authority}.crt`,
    '-CAkey',
    `${authority}.key`,
    '-CAcreateserial',
    '-days',
    '2',
    '-copy_extensions',
    'copy',
    '-out',
    `${name}.crt`,
  )
}

let sink: Sink
let server: RunningServer
beforeAll(async () => {
  makeAuthority('company')
  makeAuthority('stranger')
  makeCertificate('service', 'company')
  makeCertificate('sender', 'company')
  makeCertificate('intruder', 'stranger')
  sink = await createSink()
  server = await startServer(
    serverOptions(sink.url, {
      // On addresses beyond this machine, no token is needed if senders present a certificate.
      host: '0.0.0.0',
      access: { token: undefined, allowedHosts: [], hasClientCertificates: true },
      tls: { cert: pem('service.crt'), key: pem('service.key'), clientCa: pem('company.crt') },
    }),
  )
})
afterAll(async () => {
  await server.stop()
  await sink[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Posts a request over TLS. @returns The status, or the code of the error of the connection. */
function post(body: unknown, certificate: string | undefined): Promise<number | string> {
  const pair = certificate === undefined ? {} : { cert: pem(`${certificate}.crt`), key: pem(`${certificate}.key`) }
  return new Promise((resolve) => {
    const sent = request(
      `https://127.0.0.1:${server.httpPort}/v1/traces`,
      {
        method: 'POST',
        ca: pem('company.crt'),
        headers: { 'content-type': 'application/json' },
        agent: false,
        ...pair,
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    sent.end(JSON.stringify(body))
  })
}

function sendByGrpc(channel: ChannelCredentials): Promise<number> {
  return grpcExport(server.grpcPort, channel, Buffer.of())
}

describe('a service with client certificates', () => {
  it('accepts and scores HTTP requests with a certificate of its authority', async () => {
    const run = makeRun()
    for (const each of run.requests) expect(await post(each, 'sender')).toBe(200)
    await until(() => sink.logs.some(({ traceId }) => traceId === run.traceId), 'the score')
  })

  it('refuses a sender without a certificate, and one of another authority, before it reads anything', async () => {
    const body = makeRun().requests[0]
    expect(await post(body, undefined)).toMatch(/CERTIFICATE_REQUIRED|ECONNRESET/)
    expect(await post(body, 'intruder')).toMatch(/UNKNOWN_CA|ECONNRESET/)
  })

  it('does the same by gRPC', async () => {
    const ca = Buffer.from(pem('company.crt'))
    const pairOf = (name: string) => [Buffer.from(pem(`${name}.key`)), Buffer.from(pem(`${name}.crt`))] as const
    expect(await sendByGrpc(credentials.createSsl(ca, ...pairOf('sender')))).toBe(status.OK)
    expect(await sendByGrpc(credentials.createSsl(ca))).toBe(status.UNAVAILABLE)
    expect(await sendByGrpc(credentials.createSsl(ca, ...pairOf('intruder')))).toBe(status.UNAVAILABLE)
    expect(await sendByGrpc(credentials.createInsecure())).toBe(status.UNAVAILABLE)
  })
})
