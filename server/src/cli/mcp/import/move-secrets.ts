import { isSecretName, isSecretValue } from '@causeway/gateway/config'
import type { ConvertedEntry } from './convert-entry.ts'

interface MovedSecrets {
  readonly entry: ConvertedEntry
  /** Values by name in `secrets.json`. */
  readonly secrets: Readonly<Record<string, string>>
}

/** Records a secret. Returns the reference that replaces it. */
type MoveSecret = (key: string, value: string) => string

/** Replaces secrets with `${secret:NAME}`. Does not overwrite `existingSecrets`. */
export function moveSecrets(
  server: string,
  entry: ConvertedEntry,
  existingSecrets: Readonly<Record<string, string>> = {},
): MovedSecrets {
  const secrets: Record<string, string> = {}
  const move: MoveSecret = (key, value) => {
    if (value === '' || value.includes('${')) return value
    const baseName = toSecretName(server, key.replace(/^-+/, ''))
    const allSecrets = { ...existingSecrets, ...secrets }
    let name = baseName
    for (let count = 2; Object.hasOwn(allSecrets, name) && allSecrets[name] !== value; count++)
      name = `${baseName}_${count}`
    secrets[name] = value
    return `\${secret:${name}}`
  }
  const { url, headers, args, env } = entry
  return {
    entry: {
      ...entry,
      ...(url !== undefined && { url: moveUrl(url, move) }),
      ...(headers !== undefined && {
        headers: mapValues(headers, (name, value) => moveHeader(name, value, move)),
      }),
      ...(args !== undefined && { args: moveArgSecrets(args, move) }),
      ...(env !== undefined && {
        env: mapValues(env, (name, value) =>
          isSecretName(name) || isSecretValue(value) || isRandom(value) ? move(name, value) : value,
        ),
      }),
    },
    secrets,
  }
}

const toSecretName = (server: string, key: string): string =>
  `${server}_${key}`.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 60)

const isRandom = (text: string): boolean =>
  /^[A-Za-z0-9_+/=-]{32,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !text.includes('//')

/** Preserves the scheme: `Bearer ${secret:NAME}`. */
function moveHeader(name: string, value: string, move: MoveSecret): string {
  if (!isSecretName(name) && !isSecretValue(value)) return value
  const [, scheme = '', secret = value] = /^((?:Bearer|Basic|Token)\s+)(.*)$/is.exec(value) ?? []
  return scheme + move(name, secret)
}

function moveArgSecrets(args: readonly string[], move: MoveSecret): readonly string[] {
  return args.map((arg, index) => {
    const previous = args[index - 1] ?? ''
    if (/^--?[\w-]+$/.test(previous) && isSecretName(previous) && !arg.startsWith('-'))
      return move(previous, arg)
    const [, flag = '', name = '', value] = /^(--?([\w-]+)=)(.*)$/s.exec(arg) ?? []
    if (value !== undefined && isSecretName(name)) return flag + move(name, value)
    const [, header = '', key = '', content] = /^(([\w-]+):\s*)(\S.*)$/s.exec(arg) ?? []
    if (content !== undefined && isSecretName(key)) return header + moveHeader(key, content, move)
    if (/^https?:\/\//i.test(arg)) return moveUrl(arg, move)
    return isSecretValue(arg) ? move('argument', arg) : arg
  })
}

function moveUrl(url: string, move: MoveSecret): string {
  const movedUrl = url.replace(
    /^(https?:\/\/[^/@:]*:)([^/@]+)(?=@)/i,
    (_, start: string, password: string) => start + move('password', password),
  )
  return movedUrl.replaceAll(
    /([?&])([^=&#]+)=([^&#]*)/g,
    (match, separator: string, name: string, value: string) =>
      isSecretName(name) || isSecretValue(value) || isRandom(value)
        ? `${separator}${name}=${move(name, value)}`
        : match,
  )
}

const mapValues = (
  record: Readonly<Record<string, string>>,
  change: (key: string, value: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(key, value)]))
