import type { Endpoint } from './endpoint.ts'

type Registry = 'npm' | 'pypi'

/** Commands that download a package. `words` precede the package name. */
const runners: readonly { readonly words: readonly string[]; readonly registry: Registry }[] = [
  { words: ['npx'], registry: 'npm' },
  { words: ['bunx'], registry: 'npm' },
  { words: ['npm', 'exec'], registry: 'npm' },
  { words: ['npm', 'x'], registry: 'npm' },
  { words: ['pnpm', 'dlx'], registry: 'npm' },
  { words: ['yarn', 'dlx'], registry: 'npm' },
  { words: ['bun', 'x'], registry: 'npm' },
  { words: ['uvx'], registry: 'pypi' },
  { words: ['uv', 'tool', 'run'], registry: 'pypi' },
  { words: ['pipx', 'run'], registry: 'pypi' },
]

const packageFlags: ReadonlySet<string> = new Set(['-p', '--package', '--from', '--spec', '--with'])
const valueFlags: ReadonlySet<string> = new Set([
  '--python',
  '--registry',
  '--index-url',
  '--cache',
  '-c',
  '--call',
])

export const findEndpointWarnings = (endpoint: Endpoint): readonly string[] =>
  findUnpinnedPackages(endpoint).map(
    (spec) =>
      `${spec} has no exact version, so every start may run another program than the one you approved`,
  )

/** Returns specifiers such as `server-memory` and `server-memory@latest`. */
function findUnpinnedPackages(endpoint: Endpoint): readonly string[] {
  if (endpoint.kind !== 'stdio') return []
  const words = [toCommandName(endpoint.command), ...endpoint.args]
  const runner = runners.find((candidate) => candidate.words.every((word, index) => words[index] === word))
  if (runner === undefined) return []
  return listPackages(words.slice(runner.words.length)).filter((spec) => !isPinned(spec, runner.registry))
}

const toCommandName = (command: string): string =>
  (command.split(/[\\/]/).at(-1) ?? command).replace(/\.(cmd|exe)$/i, '')

/** Returns the packages that flags name, or else the first argument. */
function listPackages(args: readonly string[]): readonly string[] {
  const namedPackages: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] as string
    if (!arg.startsWith('-')) return namedPackages.length > 0 ? namedPackages : [arg]
    if (arg === '--') continue
    const [flag = '', value] = splitFlag(arg)
    const takesNextArgument = value === undefined && (packageFlags.has(flag) || valueFlags.has(flag))
    const flagValue = takesNextArgument ? args[index + 1] : value
    if (packageFlags.has(flag) && flagValue !== undefined) namedPackages.push(flagValue)
    if (takesNextArgument) index += 1
  }
  return namedPackages
}

function splitFlag(arg: string): readonly [string, string | undefined] {
  const index = arg.indexOf('=')
  return index < 0 ? [arg, undefined] : [arg.slice(0, index), arg.slice(index + 1)]
}

/** Whether the version is exact. Files and commits count as exact. */
function isPinned(spec: string, registry: Registry): boolean {
  if (/^(\.{0,2}[\\/]|~\/|file:|[A-Za-z]:[\\/])/.test(spec) || spec.includes('${')) return true
  if (/^(git[+:]|github:|https?:)|^[\w-]+\/[\w.-]+(#|$)/.test(spec)) return /[#@][0-9a-f]{40}\b/.test(spec)
  return registry === 'npm'
    ? /.@v?\d+\.\d+\.\d+([-+][\w.+-]+)?$/.test(spec)
    : /(===?\s*|@)\d+(\.\d+)*[\w.+-]*$/.test(spec)
}
