import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { readGiven } from './read-given.ts'

/** Receives a line for the operator. */
type Report = (line: string) => void

const CERTIFICATES = /-----BEGIN (?<kind>(?:X509 |TRUSTED )?CERTIFICATE)-----[^-]+-----END \k<kind>-----/g

/**
 * Reads a file of certificates. Node.js would ignore everything else in it, and instead of an empty one trust the authorities of the system.
 *
 * @param option the option of the command line that gives the path
 * @throws Error if it has no certificate: what was expected, and what came
 */
export function readCertificates(option: string, path: string, report: Report): string {
  const text = readGiven(option, path)
  certificatesIn(option, path, text, report)
  return text
}

/** An option of the command line, and the path that it gives. */
type GivenPath = readonly [option: string, path: string]

/**
 * Reads a certificate and its key.
 *
 * @throws Error if they do not belong together: what was expected, and what came
 */
export function readKeyPair(
  [certOption, certPath]: GivenPath,
  [keyOption, keyPath]: GivenPath,
  report: Report,
): { cert: string; key: string } {
  const cert = readGiven(certOption, certPath)
  const [own] = certificatesIn(certOption, certPath, cert, report)
  const key = readGiven(keyOption, keyPath)
  if (own?.checkPrivateKey(toPrivateKey(keyOption, keyPath, key)) !== true) {
    throw new Error(
      `${keyOption} ${keyPath}: expected the key of the certificate in ${certPath}, got the one of another.`,
    )
  }
  return { cert, key }
}

function certificatesIn(option: string, path: string, text: string, report: Report): readonly X509Certificate[] {
  const found = [...text.matchAll(CERTIFICATES)].map(([pem]) => toCertificate(option, path, pem))
  if (found.length === 0) throw new Error(`${option} ${path}: expected a certificate in PEM, got a file without one.`)
  for (const { validTo, subject } of found) {
    if (Date.parse(validTo) < Date.now())
      report(`${option} ${path}: the certificate of ${subject} expired on ${validTo}.`)
  }
  return found
}

function toCertificate(option: string, path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw new Error(`${option} ${path}: expected a certificate in PEM, got one that is damaged.`, { cause: error })
  }
}

function toPrivateKey(option: string, path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new Error(`${option} ${path}: expected a private key in PEM that needs no password, got another file.`, {
      cause: error,
    })
  }
}
