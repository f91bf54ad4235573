import { isSecretName, isSecretValue } from '@causeway/gateway/config'
import type { ConvertedEntry } from './convert-entry.ts'

interface MovedSecrets {
  readonly entry: ConvertedEntry
  /** By name in `secrets.json`. */
  readonly secrets: Readonly<Record<string, string>>
}

/** Replaces secrets in variables, headers, arguments and URL by `${secret:NAME}`. Does not overwrite `taken` ones. */
export function moveSecrets(
  server: string,
  entry: ConvertedEntry,
  taken: Readonly<Record<string, string>> = {},
): MovedSecrets {
  const collector = new SecretCollector(server, taken)
  const { url, headers, args, env } = entry
  return {
    entry: {
      ...entry,
      ...(url !== undefined && { url: moveUrl(url, collector) }),
      ...(headers !== undefined && {
        headers: mapValues(headers, (name, value) => moveHeader(name, value, collector)),
      }),
      ...(args !== undefined && { args: moveArgs(args, collector) }),
      ...(env !== undefined && {
        env: mapValues(env, (name, value) =>
          isSecretName(name) || isSecretValue(value) || isRandom(value)
            ? collector.replace(name, value)
            : value,
        ),
      }),
    },
    secrets: collector.secrets,
  }
}

const toSecretName = (server: string, key: string): string =>
  `${server}_${key}`.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 60)

class SecretCollector {
  readonly secrets: Record<string, string> = {}
  readonly #server: string
  readonly #taken: Readonly<Record<string, string>>

  constructor(server: string, taken: Readonly<Record<string, string>>) {
    this.#server = server
    this.#taken = taken
  }

  replace(key: string, value: string): string {
    if (value === '' || value.includes('${')) return value
    const base = toSecretName(this.#server, key.replace(/^-+/, ''))
    const all = { ...this.#taken, ...this.secrets }
    let name = base
    for (let count = 2; Object.hasOwn(all, name) && all[name] !== value; count++) name = `${base}_${count}`
    this.secrets[name] = value
    return `\${secret:${name}}`
  }
}

const isRandom = (text: string): boolean =>
  /^[A-Za-z0-9_+/=-]{32,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !text.includes('//')

/** Preserves the scheme: `Bearer ${secret:NAME}`. */
function moveHeader(name: string, value: string, collector: SecretCollector): string {
  if (!isSecretName(name) && !isSecretValue(value)) return value
  const [, scheme = '', rest = value] = /^((?:Bearer|Basic|Token)\s+)(.*)$/is.exec(value) ?? []
  return scheme + collector.replace(name, rest)
}

function moveArgs(args: readonly string[], collector: SecretCollector): readonly string[] {
  return args.map((arg, index) => {
    const previous = args[index - 1] ?? ''
    if (/^--?[\w-]+$/.test(previous) && isSecretName(previous) && !arg.startsWith('-'))
      return collector.replace(previous, arg)
    const [, flag = '', name = '', value] = /^(--?([\w-]+)=)(.*)$/s.exec(arg) ?? []
    if (value !== undefined && isSecretName(name)) return flag + collector.replace(name, value)
    const [, header = '', key = '', content] = /^(([\w-]+):\s*)(\S.*)$/s.exec(arg) ?? []
    if (content !== undefined && isSecretName(key)) return header + moveHeader(key, content, collector)
    if (/^https?:\/\//i.test(arg)) return moveUrl(arg, collector)
    return isSecretValue(arg) ? collector.replace('argument', arg) : arg
  })
}

function moveUrl(url: string, collector: SecretCollector): string {
  const withPassword = url.replace(
    /^(https?:\/\/[^/@:]*:)([^/@]+)(?=@)/i,
    (_, start: string, password: string) => start + collector.replace('password', password),
  )
  return withPassword.replaceAll(
    /([?&])([^=&#]+)=([^&#]*)/g,
    (written, mark: string, name: string, value: string) =>
      isSecretName(name) || isSecretValue(value) || isRandom(value)
        ? `${mark}${name}=${collector.replace(name, value)}`
        : written,
  )
}

const mapValues = (
  record: Readonly<Record<string, string>>,
  change: (key: string, value: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(key, value)]))
