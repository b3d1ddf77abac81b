import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Self-made certificates, created by `openssl` in a folder. */
export class Certificates {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Creates `<name>.crt` and `<name>.key` of a certificate authority. */
  authority(name: string): void {
    this.#openssl(`req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.crt`)
  }

  /** Creates `<name>.crt` and `<name>.key`, a certificate for this machine that an authority has signed. */
  certificate(name: string, authority: string): void {
    const names = 'subjectAltName=DNS:localhost,DNS:scores.test,DNS:judge.test,IP:127.0.0.1'
    this.#openssl(`req -newkey rsa:2048 -nodes -subj /CN=${name} -addext ${names} -keyout ${name}.key -out ${name}.csr`)
    this.#openssl(
      `x509 -req -in ${name}.csr -CA ${authority}.crt -CAkey ${authority}.key -CAcreateserial -days 2 -copy_extensions copyall -out ${name}.crt`,
    )
  }

  /** Creates `<name>.crt` and `<name>.key`, a certificate that expired yesterday. */
  expired(name: string): void {
    this.#openssl(`req -newkey rsa:2048 -nodes -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`)
    this.#openssl(`x509 -req -in ${name}.csr -signkey ${name}.key -days -1 -out ${name}.crt`)
  }

  path(file: string): string {
    return join(this.#folder, file)
  }

  read(file: string): string {
    return readFileSync(this.path(file), 'utf8')
  }

  #openssl(command: string): void {
    execFileSync('openssl', command.split(' '), { cwd: this.#folder, stdio: 'pipe' })
  }
}
