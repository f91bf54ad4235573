/** Files and code that allow a change to make its own evaluation pass. */
import { asObject } from '@causeway/protocol'
import { findScripts } from '../command/command.ts'
import { escapePattern } from '../format.ts'
import { createGlobMatcher } from '../ignore-rules.ts'
import { parseObject } from '../parse-object.ts'

/** Patterns of files that configure or replace the evaluating programs, each with a description. */
const configurations: readonly (readonly [RegExp, string])[] = [
  [
    /(^|\/)(conftest\.py|noxfile\.py|\.?(pytest|tox|setup|pyproject|mypy|ruff)\.(ini|cfg|toml)|\.?pylintrc|\.(coveragerc|flake8|bandit)|(pyrightconfig|biome|deno)\.jsonc?|tsconfig[\w.]*\.json|[\w-]+\.(config|conf)\.\w+|\.[\w-]+rc(\.\w+)?|\.(eslint|stylelint|prettier)ignore)$/,
    'configures the checks',
  ],
  [
    /(^|\/)(package\.json|(GNU)?(Makefile|makefile)|[^/]+\.mk|(Justfile|justfile)|Taskfile\.ya?ml|Rakefile)$/,
    'contains the commands that run the checks',
  ],
  [
    /(^|\/)((site|user)customize\.py|[^/]+\.pth|entry_points\.txt)$/,
    'is loaded by every Python process or by pytest',
  ],
]

const testPath =
  /(^|\/)(tests?|__tests__|__mocks__|__snapshots__|specs?|fixtures|testdata|test_data|golden)\/|(^|\/)(test_[^/]*|[^/]*_tests?|tests?)\.py$|\.(test|spec)\.[cm]?[jt]sx?$|\.snap$/

/** Matches a module in a folder that Python searches first. */
const topLevelModule = /^(?:src\/|tests?\/)?(\w+)(?:\.py|\/.*\.py)$/

const runnerModules = new Set(
  '_pytest coverage doctest flake8 hypothesis mypy nose nose2 pluggy pylint pytest tox unittest'.split(' '),
)

/** Standard modules that runners import. A new file with such a name replaces the module. */
const libraryModules = new Set(
  'abc argparse ast asyncio atexit bdb builtins cmd code codecs collections contextlib copy csv dataclasses datetime decimal difflib dis encodings enum fnmatch fractions functools gc getpass gettext glob hashlib heapq importlib inspect io itertools json keyword linecache locale logging math numbers operator optparse os pathlib pdb pickle pkgutil platform pprint random re reprlib runpy secrets select shlex shutil signal site socket statistics stat string struct subprocess sys sysconfig tempfile textwrap threading time timeit token tokenize trace traceback types typing unicodedata uuid warnings weakref xml zipfile'.split(
    ' ',
  ),
)

/** A changed test, or a changed file that configures, runs or replaces the checks. */
export interface Tampering {
  readonly path: string
  readonly why: string
  readonly isTest: boolean
}

/** Returns the files of `paths` that can decide the evaluation, such as scripts that `commands` run. */
export function findTampering(
  paths: readonly string[],
  commands: readonly string[],
  createdPaths: ReadonlySet<string> = new Set(),
): readonly Tampering[] {
  const scripts = new Set(commands.flatMap(findScripts))
  return paths.flatMap((path): readonly Tampering[] => {
    const configuration = configurations.find(([pattern]) => pattern.test(path))
    if (configuration !== undefined) return [{ path, why: configuration[1], isTest: false }]
    if (scripts.has(path)) return [{ path, why: 'is run by a command of the session', isTest: false }]
    const module = topLevelModule.exec(path)?.[1] ?? ''
    if (runnerModules.has(module) || (createdPaths.has(path) && libraryModules.has(module)))
      return [{ path, why: `replaces the module ${module}`, isTest: false }]
    return testPath.test(path) ? [{ path, why: 'is a test', isTest: true }] : []
  })
}

/**
 * `compare` repeats the evaluation with the original files. A list rejects changes of paths that match its glob
 * patterns. The entry `tests` means all files of `findTampering`. An empty list trusts every change.
 */
type Protection = 'compare' | readonly string[]

interface ProtectionRequest {
  readonly paths: readonly string[]
  readonly protection: Protection
  readonly commands: readonly string[]
}

export function findProtectedPaths({ paths, protection, commands }: ProtectionRequest): readonly string[] {
  if (protection === 'compare') return []
  const tampering = protection.includes('tests')
    ? new Set(findTampering(paths, commands).map(({ path }) => path))
    : new Set<string>()
  const matchers = protection.filter((entry) => entry !== 'tests').map(createGlobMatcher)
  return paths.filter((path) => tampering.has(path) || matchers.some((matches) => matches(path)))
}

export const isTestPath = (path: string): boolean => testPath.test(path)

/**
 * Returns the changed files that unchanged tests, scripts, makefiles and package scripts use: scripts, modules with
 * test code, and modules with the rules of a script in `checks`. `texts` contains the unchanged files, and `originals`
 * the changed files at the start.
 */
export function findHelpers(
  texts: ReadonlyMap<string, string>,
  originals: ReadonlyMap<string, string>,
  checks: ReadonlySet<string>,
): readonly string[] {
  const helpers = new Set<string>()
  for (const [path, text] of texts) {
    const isTest = isTestPath(path)
    const scripts = isTest ? [] : listCommands(path, text).flatMap(findScripts)
    for (const script of scripts) if (originals.has(script)) helpers.add(script)
    const modules = isTest || checks.has(path) ? listImports(path, text) : []
    for (const module of modules) {
      const original = originals.get(module)
      if (original === undefined) continue
      if (isHelper(module, original) || (!isTest && ruleName.test(getModuleName(module)))) helpers.add(module)
    }
  }
  return [...helpers].sort()
}

/** Returns new packages that replace an original module: `prices/__init__.py` takes precedence over `prices.py`. */
export const findShadowingPackages = (
  createdPaths: ReadonlySet<string>,
  existing: ReadonlySet<string>,
): readonly string[] =>
  [...createdPaths].filter(
    (path) => path.endsWith('/__init__.py') && existing.has(path.replace(/\/__init__\.py$/, '.py')),
  )

export const isSource = (path: string): boolean => /\.(py|[cm]?[jt]sx?)$/.test(path)

/**
 * Returns the changed data files that only tests and their helpers use, and that therefore contain expected values.
 * `texts` contains the original code by path.
 */
export function findExpectedData(
  changedPaths: readonly string[],
  texts: ReadonlyMap<string, string>,
): readonly string[] {
  const isReader = (file: string): boolean => isTestPath(file) || helperName.test(getModuleName(file))
  const readerFiles = [...texts].filter(([file]) => isReader(file))
  const otherFiles = [...texts].filter(([file]) => !isReader(file))
  return changedPaths.filter((path) => {
    if (isSource(path)) return false
    const name = path.slice(path.lastIndexOf('/') + 1)
    const data = {
      path,
      name,
      folder: /([^/]+)\/[^/]+$/.exec(path)?.[1],
      extension: /\.\w+$/.exec(name)?.[0] ?? '',
    }
    return (
      readerFiles.some(([file, text]) => file !== path && readsData(file, text, data)) &&
      !otherFiles.some(([file, text]) => file !== path && mentionsData(text, data))
    )
  })
}

interface DataFile {
  readonly path: string
  readonly name: string
  readonly folder: string | undefined
  /** The extension, such as `.json`. */
  readonly extension: string
}

const includesWord = (text: string, word: string): boolean =>
  new RegExp(`(?<!\\w)${escapePattern(word)}(?!\\w)`).test(text)

const mentionsData = (text: string, { name, folder, extension }: DataFile): boolean =>
  text.includes(name) ||
  (folder !== undefined &&
    extension !== '' &&
    includesWord(text, extension) &&
    new RegExp(`['"\`/]${escapePattern(folder)}['"\`/]`).test(text))

const folderListingPattern = /\b(?:i?glob|rglob|iterdir|listdir|scandir|walk|readdir|globSync|readdirSync)\(/

function readsData(file: string, text: string, data: DataFile): boolean {
  const { path, name, folder, extension } = data
  if (text.includes(name)) return true
  const isInSameFolder = getFolder(path) === getFolder(file)
  const mentionsFolder = isInSameFolder || (folder !== undefined && includesWord(text, folder))
  if (mentionsFolder && folderListingPattern.test(text)) return true
  const mentionsExtension = extension !== '' && includesWord(text, extension)
  return mentionsExtension && (mentionsFolder || includesWord(text, name.slice(0, -extension.length)))
}

function listCommands(path: string, text: string): readonly string[] {
  if (!path.endsWith('.json')) return text.split('\n').map((line) => line.trim())
  const { scripts } = parseObject(text)
  return Object.values(asObject(scripts)).filter((command) => typeof command === 'string')
}

const helperName =
  /(^|[_.-])(tests?|testing|testutils?|helpers?|fixtures?|mocks?|stubs?|fakes?|asserts?|assertions|expect|expected|harness|golden|oracle)([_.-]|$)/i

const helperText =
  /^\s*(?:import|from)\s+(?:unittest|pytest|hypothesis)\b|\bAssertionError\b|\b(?:def|function)\s+(?:assert|expect|check_?equal)\w*|['"](?:node:assert|assert|chai|node:test)(?:\/strict)?['"]/m

const ruleName = /(^|[_.-])(rules?|checks?|checkers?|schemas?|valid\w*|constraints?|expectations?)([_.-]|$)/i

/** Returns the name of a package's folder, or a file's name. */
const getModuleName = (path: string): string =>
  /([^/]+)\/(?:__init__\.py|index\.[cm]?[jt]s)$/.exec(path)?.[1] ?? path.slice(path.lastIndexOf('/') + 1)

const isHelper = (path: string, text: string): boolean =>
  helperName.test(getModuleName(path)) || helperText.test(text)

const getFolder = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

function listImports(path: string, text: string): readonly string[] {
  const folder = getFolder(path)
  if (!path.endsWith('.py')) {
    const names = [...text.matchAll(/(?:from|require\(|import\(|import)\s*['"](\.{1,2}\/[^'"]+)['"]/g)]
    return names.flatMap(([, name = '']) => {
      const base = resolve(folder, name)
      return [base, ...['.js', '.mjs', '.cjs', '.ts', '/index.js', '/index.ts'].map((end) => base + end)]
    })
  }
  const lines = [...text.matchAll(/^\s*(?:from\s+([\w.]+)\s+import\s+([\w, ]+)|import\s+([\w., ]+))/gm)]
  return lines.flatMap(([, from, names = '', importedModules = '']) => {
    const importedNames = (from === undefined ? importedModules : names)
      .split(',')
      .map((name) => name.trim().split(' ')[0] ?? '')
    const modules =
      from === undefined ? importedNames : [from, ...importedNames.map((name) => `${from}.${name}`)]
    return modules
      .map((module) => module.replace(/^\.+/, '').replaceAll('.', '/'))
      .flatMap((base) =>
        ['', 'src/', folder].flatMap((prefix) => [`${prefix}${base}.py`, `${prefix}${base}/__init__.py`]),
      )
  })
}

function resolve(folder: string, name: string): string {
  const segments = folder.split('/').filter((segment) => segment !== '')
  for (const segment of name.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '.' && segment !== '') segments.push(segment)
  }
  return segments.join('/')
}
