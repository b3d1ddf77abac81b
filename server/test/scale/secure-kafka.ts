import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { BaseOptions } from '@platformatic/kafka'

import { Certificates } from '../certificates.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule'
const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule'

/** Certificates of brokers and workers, and brokers that require a certificate or a password. */
export class SecureKafka {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'spanscore-tls-'))
  readonly certificates: Certificates = new Certificates(this.#folder)

  constructor() {
    const { certificates } = this
    certificates.authority('authority')
    certificates.authority('stranger')
    certificates.certificate('broker', 'authority')
    certificates.certificate('worker', 'authority')
    writeFileSync(certificates.path('broker.pem'), certificates.read('broker.key') + certificates.read('broker.crt'))
  }

  get caFile(): string {
    return this.certificates.path('authority.crt')
  }

  /** A certificate that brokers accept. */
  get clientTls(): { readonly ca: string; readonly cert: string; readonly key: string } {
    const { certificates } = this
    return {
      ca: certificates.read('authority.crt'),
      cert: certificates.read('worker.crt'),
      key: certificates.read('worker.key'),
    }
  }

  /**
   * Starts brokers that require a password. The user `admin` may do everything, with the password `admin-secret`; `worker` has
   * `worker-secret` for PLAIN, and `scram-secret` for SCRAM-SHA-512.
   *
   * @param mayByDefault Whether users may do what no rule covers.
   */
  withPasswords(brokers: number, mechanisms: readonly string[], mayByDefault: boolean): Promise<KafkaCluster> {
    const sasl: BaseOptions['sasl'] = { mechanism: 'PLAIN', username: 'admin', password: 'admin-secret' }
    return startKafka(brokers, {
      protocol: 'SASL_SSL',
      access: { tls: { ca: this.certificates.read('authority.crt') }, sasl },
      lines: [
        ...this.#tlsLines('none'),
        `sasl.enabled.mechanisms=${mechanisms.join(',')}`,
        'sasl.mechanism.inter.broker.protocol=PLAIN',
        `listener.name.client.plain.sasl.jaas.config=${PLAIN} required username="admin" password="admin-secret" user_admin="admin-secret" user_worker="worker-secret";`,
        `listener.name.client.scram-sha-512.sasl.jaas.config=${SCRAM} required;`,
        'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        `allow.everyone.if.no.acl.found=${mayByDefault}`,
        'super.users=User:admin;User:ANONYMOUS',
      ],
      formatArgs: ['--add-scram', 'SCRAM-SHA-512=[name=worker,password=scram-secret]'],
    })
  }

  /** Starts brokers that require a certificate. */
  withCertificates(): Promise<KafkaCluster> {
    return startKafka(1, { protocol: 'SSL', access: { tls: this.clientTls }, lines: this.#tlsLines('required') })
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #tlsLines(clientAuth: string): readonly string[] {
    return [
      'ssl.keystore.type=PEM',
      `ssl.keystore.location=${this.certificates.path('broker.pem')}`,
      'ssl.truststore.type=PEM',
      `ssl.truststore.location=${this.caFile}`,
      `ssl.client.auth=${clientAuth}`,
    ]
  }
}
