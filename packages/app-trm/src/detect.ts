/** What a project offers, found by looking; nothing of it is run. */
import { existsSync } from 'node:fs'
import { access, constants, readdir, readFile, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { programs, pythonModule } from './domain/command.ts'

/** Commands that would fit the project, by argument of `trm.start`. */
export type Detected = Readonly<Record<string, string>>

/** Whether a command can be started. */
export type CommandStatus = 'available' | 'unavailable' | 'unknown'

const venvs = ['.venv', 'venv']

/** Commands that fit what lies in the project and what is installed; only what was found. */
export async function detect(repo: string): Promise<Detected> {
  return { ...(await detectScripts(repo)), ...(await detectPython(repo)) }
}

/**
 * Files by which an interpreter in the project takes modules from the project itself and not from a copy of it: what an
 * editable install leaves in `site-packages`. Relative to the project.
 */
export async function editableInstalls(repo: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const venv of venvs)
    for (const python of await namesIn(join(repo, venv, 'lib'))) {
      const packages = `${venv}/lib/${python}/site-packages`
      for (const name of await namesIn(join(repo, packages))) {
        if (!/\.pth$|^__editable__.*\.py$/.test(name)) continue
        const text = await readFile(join(repo, packages, name), 'utf8').catch(() => '')
        if (text.includes(repo)) found.push(`${packages}/${name}`)
      }
    }
  return found
}

async function detectPython(repo: string): Promise<Detected> {
  const python =
    venvs.map((name) => `${name}/bin/python`).find((file) => existsSync(join(repo, file))) ?? 'python3'
  const names = await namesIn(repo)
  const folders = ['tests', 'test'].filter((name) => names.includes(name))
  const listed = (await Promise.all(folders.map((name) => namesIn(join(repo, name))))).flat()
  const isPython = [...names, ...listed].some((name) => name.endsWith('.py'))
  if (!isPython) return {}
  const has = (module: string) => hasModule(repo, python, module)
  const [pytest, flake8, mypy] = await Promise.all(['pytest', 'flake8', 'mypy'].map(has))
  const test = pytest
    ? `${python} -m pytest -q`
    : `${python} -m unittest discover${folders[0] === undefined ? '' : ` -s ${folders[0]}`}`
  const lint = flake8 ? `${python} -m flake8` : mypy ? `${python} -m mypy .` : undefined
  return { test, ...(lint === undefined ? {} : { lint }) }
}

async function detectScripts(repo: string): Promise<Detected> {
  const text = await readFile(join(repo, 'package.json'), 'utf8').catch(() => '{}')
  const scripts = scriptsOf(text)
  const found: Record<string, string> = {}
  if (scripts.test !== undefined && !scripts.test.includes('no test specified'))
    found.test = 'npm test --silent'
  for (const [argument, names] of Object.entries({
    lint: ['lint'],
    build: ['build', 'typecheck'],
    bench: ['bench', 'benchmark'],
  })) {
    const name = names.find((one) => scripts[one] !== undefined)
    if (name !== undefined) found[argument] = `npm run --silent ${name}`
  }
  return found
}

function scriptsOf(text: string): Readonly<Record<string, string>> {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown }
    return typeof scripts === 'object' && scripts !== null ? (scripts as Record<string, string>) : {}
  } catch {
    return {}
  }
}

/** Whether everything that a command starts with can be found. */
export async function commandStatus(repo: string, command: string): Promise<CommandStatus> {
  const module = pythonModule(command)
  if (module !== undefined && !(await hasModule(repo, ...module))) return 'unavailable'
  const names = programs(command)
  if (names.length === 0) return 'unknown'
  const found = await Promise.all(names.map((name) => hasProgram(repo, name)))
  return found.every(Boolean) ? 'available' : 'unavailable'
}

async function hasProgram(repo: string, name: string): Promise<boolean> {
  if (name.includes('/')) return isExecutable(isAbsolute(name) ? name : join(repo, name))
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = await Promise.all(folders.map((folder) => isExecutable(join(folder, name))))
  return found.some(Boolean)
}

/** Looks where an interpreter keeps its modules, and for modules of the project itself. */
async function hasModule(repo: string, python: string, module: string): Promise<boolean> {
  const top = module.split('.')[0] ?? module
  if (standard.has(top) || existsSync(join(repo, top)) || existsSync(join(repo, `${top}.py`))) return true
  const places = python.includes('/') ? [join(repo, python.replace(/bin\/[^/]*$/, 'lib'))] : systemLibraries()
  const found = await Promise.all(places.map((place) => moduleBelow(place, top)))
  return found.some(Boolean)
}

const standard = new Set(['unittest', 'compileall', 'doctest', 'timeit', 'py_compile', 'json', 'venv'])

function systemLibraries(): string[] {
  const roots = (process.env.PATH ?? '').split(delimiter).filter((folder) => /\/bin\/?$/.test(folder))
  const pyenv = process.env.PYENV_ROOT ?? join(process.env.HOME ?? '/', '.pyenv')
  return [...new Set([...roots.map((folder) => folder.replace(/bin\/?$/, 'lib')), join(pyenv, 'versions')])]
}

/** `lib/python3.11/site-packages/pytest`, `lib/python3/dist-packages/pytest`, and one level of versions above them. */
async function moduleBelow(lib: string, module: string): Promise<boolean> {
  const names = await namesIn(lib)
  const pythons = names.filter((name) => /^python3/.test(name)).map((name) => join(lib, name))
  const versions = names.filter((name) => /^3\.\d+/.test(name)).map((name) => join(lib, name, 'lib'))
  for (const folder of pythons)
    for (const packages of ['site-packages', 'dist-packages'])
      if (existsSync(join(folder, packages, module)) || existsSync(join(folder, packages, `${module}.py`)))
        return true
  for (const version of versions) if (await moduleBelow(version, module)) return true
  return false
}

/** Names in a folder; none where there is no folder. */
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch((): string[] => [])

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
