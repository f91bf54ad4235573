/** Detects the tools of a project without running anything. */
import { existsSync } from 'node:fs'
import { access, constants, readdir, readFile, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { asObject } from '@causeway/protocol'
import { findPrograms, findPythonModule } from '../domain/command/command.ts'
import { parseObject } from '../domain/parse-object.ts'

export type DetectedCommands = Readonly<Record<string, string>>

const virtualEnvironments = ['.venv', 'venv']

export async function detectCommands(repo: string): Promise<DetectedCommands> {
  return { ...(await detectScripts(repo)), ...(await detectPython(repo)) }
}

/**
 * Returns the files of editable installs, relative to the project. They cause tests to import the project instead of
 * its work copy.
 */
export async function findEditableInstalls(repo: string): Promise<readonly string[]> {
  const installFiles: string[] = []
  for (const venv of virtualEnvironments)
    for (const python of await listNames(join(repo, venv, 'lib'))) {
      const packages = `${venv}/lib/${python}/site-packages`
      for (const name of await listNames(join(repo, packages))) {
        if (!/\.pth$|^__editable__.*\.py$/.test(name)) continue
        const text = await readFile(join(repo, packages, name), 'utf8').catch(() => '')
        if (text.includes(repo)) installFiles.push(`${packages}/${name}`)
      }
    }
  return installFiles
}

async function detectPython(repo: string): Promise<DetectedCommands> {
  const interpreters = virtualEnvironments.map((name) => `${name}/bin/python`)
  const python = interpreters.find((file) => existsSync(join(repo, file))) ?? 'python3'
  const names = await listNames(repo)
  const folders = ['tests', 'test'].filter((name) => names.includes(name))
  const nestedNames = (await Promise.all(folders.map((name) => listNames(join(repo, name))))).flat()
  if (![...names, ...nestedNames].some((name) => name.endsWith('.py'))) return {}
  const [hasPytest, hasFlake8, hasMypy] = await Promise.all(
    ['pytest', 'flake8', 'mypy'].map((module) => hasModule(repo, python, module)),
  )
  const test = hasPytest
    ? `${python} -m pytest -q`
    : `${python} -m unittest discover${folders[0] === undefined ? '' : ` -s ${folders[0]}`}`
  const lint = hasFlake8 ? `${python} -m flake8` : hasMypy ? `${python} -m mypy .` : undefined
  return { test, ...(lint === undefined ? {} : { lint }) }
}

async function detectScripts(repo: string): Promise<DetectedCommands> {
  const text = await readFile(join(repo, 'package.json'), 'utf8').catch(() => '')
  const scripts = asObject(parseObject(text).scripts)
  const commands: Record<string, string> = {}
  if (scripts.test !== undefined && !String(scripts.test).includes('no test specified'))
    commands.test = 'npm test --silent'
  const candidates = { lint: ['lint'], build: ['build', 'typecheck'], bench: ['bench', 'benchmark'] }
  for (const [argument, names] of Object.entries(candidates)) {
    const name = names.find((script) => scripts[script] !== undefined)
    if (name !== undefined) commands[argument] = `npm run --silent ${name}`
  }
  return commands
}

export async function findCommandStatus(
  repo: string,
  command: string,
): Promise<'available' | 'unavailable' | 'unknown'> {
  const module = findPythonModule(command)
  if (module !== undefined && !(await hasModule(repo, ...module))) return 'unavailable'
  const names = findPrograms(command)
  if (names.length === 0) return 'unknown'
  const availability = await Promise.all(names.map((name) => hasProgram(repo, name)))
  return availability.every(Boolean) ? 'available' : 'unavailable'
}

async function hasProgram(repo: string, name: string): Promise<boolean> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const files = name.includes('/') ? [resolve(repo, name)] : folders.map((folder) => join(folder, name))
  return (await Promise.all(files.map(isExecutable))).some(Boolean)
}

const standardModules = new Set(['unittest', 'compileall', 'doctest', 'timeit', 'py_compile', 'json', 'venv'])

/** Whether a module is standard or in the project, or a program with its name is next to the interpreter or in PATH. */
async function hasModule(repo: string, python: string, module: string): Promise<boolean> {
  const topLevelName = module.split('.')[0] ?? module
  const isProjectModule = existsSync(join(repo, topLevelName)) || existsSync(join(repo, `${topLevelName}.py`))
  if (standardModules.has(topLevelName) || isProjectModule) return true
  return hasProgram(repo, python.includes('/') ? python.replace(/[^/]*$/, topLevelName) : topLevelName)
}

const listNames = (folder: string): Promise<string[]> => readdir(folder).catch((): string[] => [])

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
