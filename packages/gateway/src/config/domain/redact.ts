import type { Endpoint } from './endpoint.ts'

export const redactedText = '<redacted>'

const secretNamePattern = /token|secret|passw|api[-_]?key|auth|credential|private[-_]?key|cookie|bearer/i

export const isSecretName = (name: string): boolean =>
  secretNamePattern.test(name) || /(^|[-_])(key|pat|pw)$/i.test(name)

const tokenPattern =
  /\b(gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abpr]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|npm_\w{30,}|hf_\w{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/

export const isSecretValue = (text: string): boolean =>
  tokenPattern.test(text) || /:\/\/[^/@\s:]*:[^/@\s]+@/.test(text)

/** Removes query, fragment and credentials, which may contain variables. */
export function redactUrl(url: string): string {
  const urlWithoutQuery = url.replace(/[?#].*$/s, (suffix) =>
    suffix.length > 1 ? `${suffix[0]}${redactedText}` : suffix,
  )
  return urlWithoutQuery.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, `$1${redactedText}@`)
}

export function redactArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const previous = args[index - 1] ?? ''
    if (/^--?[\w-]+$/.test(previous) && isSecretName(previous) && !arg.startsWith('-'))
      return redactUnlessVariable(arg)
    const [, flag, value] = /^(--?[\w-]+=)(.*)$/s.exec(arg) ?? []
    if (flag !== undefined && value !== undefined)
      return flag + (isSecretName(flag) ? redactUnlessVariable(value) : redactWord(value))
    return redactWord(arg)
  })
}

function redactWord(word: string): string {
  const [, header, value] = /^([\w-]+:\s*)(\S.*)$/s.exec(word) ?? []
  if (header !== undefined && value !== undefined && isSecretName(header))
    return header + redactUnlessVariable(value)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return redactUrl(word)
  return isSecretValue(word) ? redactedText : word
}

/** Shorter secrets would also match parts of other words. */
const minSecretLength = 4

export const redactSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter(({ length }) => length >= minSecretLength)
    .reduce((rest, secret) => rest.replaceAll(secret, redactedText), text)

/** Redacts all but references to variables, which reveal nothing. */
const redactUnlessVariable = (value: string): string =>
  value.replaceAll(/\$\{[^{}]*\}|[^$]+|\$/g, (part) => (part.startsWith('${') ? part : redactedText))

export const describeEndpoint = (endpoint: Endpoint): string =>
  endpoint.kind === 'stdio'
    ? [endpoint.command, ...redactArgs(endpoint.args)].map(quote).join(' ')
    : redactUrl(endpoint.url)

const quote = (word: string): string =>
  /^[\w@%+=:,./<>${}?&#~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
