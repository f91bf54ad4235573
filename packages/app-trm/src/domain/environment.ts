/** The environment of commands: an allow-list, so that no secret of the server reaches code that a model wrote. */

const names = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR', 'VIRTUAL_ENV', 'CONDA_PREFIX'],
  ...['SYSTEMROOT', 'COMSPEC', 'PATHEXT'],
])

const families = /^(LC_|PYENV_|NVM_)/

/** Set for every command: quiet, reproducible, and without files beside the sources. */
const fixed: Readonly<Record<string, string>> = {
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONHASHSEED: '0',
}

/** Names that would change what the command runs in, beyond its own settings. */
const refused = /^(LD_|DYLD_|CAUSEWAY_)/

/** What a session may not set: its name, or undefined where all is well. */
export const refusedName = (given: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(given).find((name) => refused.test(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))

/** The environment of a command: what is allowed of `outer`, what is fixed, what the session gave, then `more`. */
export function commandEnvironment(
  outer: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const allowed = Object.entries(outer).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (names.has(entry[0].toUpperCase()) || families.test(entry[0])),
  )
  return { ...Object.fromEntries(allowed), ...fixed, ...given, ...more }
}

/**
 * What makes test runners write reports, without a change of the command: `xml` for pytest, `nodeXml` for node --test.
 * What the session itself set for them is kept, and `more` comes last.
 */
export function reportEnvironment(
  { xml, nodeXml }: { readonly xml: string; readonly nodeXml: string },
  given: Readonly<Record<string, string>>,
  more: { readonly PYTEST_ADDOPTS?: string; readonly NODE_OPTIONS?: string } = {},
): Readonly<Record<string, string>> {
  const node = `--test-reporter=junit --test-reporter-destination="${nodeXml}" --test-reporter=spec --test-reporter-destination=stdout`
  const after = (...parts: readonly (string | undefined)[]): string =>
    parts.filter((part) => part !== undefined).join(' ')
  return {
    PYTEST_ADDOPTS: after(
      `--junitxml="${xml}" -p no:cacheprovider -o junit_family=xunit2`,
      given.PYTEST_ADDOPTS,
      more.PYTEST_ADDOPTS,
    ),
    NODE_OPTIONS: after(node, given.NODE_OPTIONS, more.NODE_OPTIONS),
  }
}

const secretName = /token|secret|passw|credential|api_?key|private_?key/i
// Each name is tried once, from its beginning: a search from every character of a long word takes cubic time.
const secretText =
  /(?<![\w-])(?=[\w-]*?(?:token|secret|passw|api[_-]?key|private[_-]?key))([\w-]+["']?\s*[=:]\s*["']?)[^\s"',;]{8,}/gi

/** The text without values that look secret: those of secret-looking names, there and among what the session gave. */
export function redact(text: string, given: Readonly<Record<string, string>>): string {
  const values = Object.entries(given)
    .filter(([name, value]) => secretName.test(name) && value.length >= 4)
    .map(([, value]) => value)
  const known = values.reduce((cleaned, value) => cleaned.replaceAll(value, '[redacted]'), text)
  return known.replaceAll(secretText, '$1[redacted]')
}
