import { isRecord } from '../../spans/json.ts'

/** Codes of OpenSSL and Node.js for a certificate of a server that is not trusted. */
const UNTRUSTED =
  /^(?:UNABLE_TO_(?:GET_ISSUER_CERT(?:_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT(?:_IN_CHAIN)?|CERT_(?:UNTRUSTED|SIGNATURE_FAILURE))$/
const OTHERS = /^(?:CERT_|ERR_TLS_CERT_|ERR_SSL_.*CERT)/

/** The options by which a program trusts a server, and shows a certificate of its own. */
export interface CertificateOptions {
  /** Gives the authority of the server's certificate. */
  readonly ca: string
  /** Gives the certificate of this client, and its key. */
  readonly cert: string
}

/**
 * What is wrong with a certificate, and which option cures it; `undefined` if an error says nothing of one. Another attempt would have the same end.
 *
 * @param at the server
 */
export function certificateTrouble(error: unknown, at: string, options: CertificateOptions): string | undefined {
  let cause = error
  for (let depth = 0; depth < 5 && isRecord(cause); depth += 1) {
    const code = String(cause['code'])
    if (UNTRUSTED.test(code))
      return `${at}: its certificate is not trusted (${code}): give its authority by ${options.ca}.`
    if (/ALERT_(?:BAD_)?CERTIFICATE|HANDSHAKE_FAILURE|ALERT_UNKNOWN_CA/.test(code))
      return `${at}: it does not accept the certificate of this client, or needs one (${code}): give one by ${options.cert}.`
    if (OTHERS.test(code))
      return `${at}: its certificate cannot be used (${code}): correct it there, or the name in the URL.`
    cause = cause['cause']
  }
  return undefined
}
