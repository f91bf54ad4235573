import { statSync } from 'node:fs'
import { join } from 'node:path'
import { isReadableByOthers, writePrivateFile } from '@causeway/protocol'
import { z } from 'zod'
import { GatewayError } from '../errors.ts'
import { readPrivateFile } from './private-file.ts'

export const secretsFileName = 'secrets.json'

const schema = z.record(z.string(), z.string())

/** Values of `${secret:NAME}`. */
export class SecretsFile {
  readonly path: string

  constructor(dataDir: string) {
    this.path = join(dataDir, secretsFileName)
  }

  /** Throws `SECRETS_INVALID` if the file is malformed, or readable by other users. */
  read(): Readonly<Record<string, string>> {
    const text = readPrivateFile(this.path)
    if (text === undefined) return {}
    if (isReadableByOthers(statSync(this.path).mode))
      throw this.#createInvalidError(
        'other users of this machine can read the file of secrets',
        `run chmod 600 ${this.path}`,
      )
    try {
      return schema.parse(JSON.parse(text))
    } catch {
      // Without a cause, because a syntax error quotes the file.
      throw this.#createInvalidError(
        'not a JSON object of texts',
        'correct the file, or remove it and set the secrets again',
      )
    }
  }

  /** Callers must validate the names. */
  set(values: Readonly<Record<string, string>>): void {
    this.#write({ ...this.read(), ...values })
  }

  remove(names: readonly string[]): void {
    const secrets = this.read()
    if (!names.some((name) => Object.hasOwn(secrets, name))) return
    this.#write(Object.fromEntries(Object.entries(secrets).filter(([name]) => !names.includes(name))))
  }

  #write(values: Readonly<Record<string, string>>): void {
    writePrivateFile(this.path, `${JSON.stringify(values, null, 2)}\n`)
  }

  #createInvalidError(message: string, remedy: string) {
    return new GatewayError('SECRETS_INVALID', `${message}: ${this.path}`, {
      data: { path: this.path },
      remedy,
    })
  }
}
