// Runs the built bridge in this process. If that is not possible, answers each request with an error and its remedy: clients
// show errors, but not why a process exited. Node.js 18 must be able to parse this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const bundle = new URL('./dist/bridge.js', import.meta.url)
const checkout = fileURLToPath(new URL('..', import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 18))
  explain(
    `Node ${process.versions.node} is too old for the Causeway bridge`,
    'run it with Node 20.18 or newer',
  )
else {
  if (!existsSync(bundle) && process.argv.includes('--autostart')) await build()
  if (existsSync(bundle)) await import(bundle.href)
  else explain('the Causeway bridge is not built', `run \`npm start\` in ${checkout}`)
}

/** Installs and bundles the bridge in a new checkout. The client's messages wait in the pipe meanwhile. */
function build() {
  const program = fileURLToPath(new URL('../scripts/run.mjs', import.meta.url))
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, 'bridge'], { stdio: ['ignore', 2, 2] })
    child.once('error', resolve)
    child.once('exit', resolve)
  })
}

/** Answers every request on standard input with an error until the input ends. */
function explain(message, remedy) {
  const error = {
    code: -32603,
    message: `${message}; ${remedy}`,
    data: {
      code: 'SERVER_UNREACHABLE',
      message,
      remedy,
      data: { checkout },
      legacy_code: null,
      retryable: true,
    },
  }
  const answer = (id, error) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  process.stdout.on('error', () => process.exit(0))
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line.trim() === '') return
    let messages
    try {
      messages = [].concat(JSON.parse(line))
    } catch {
      answer(null, { code: -32700, message: 'the line is not valid JSON' })
      return
    }
    for (const request of messages)
      if (request !== null && typeof request === 'object' && 'method' in request && 'id' in request)
        answer(request.id, error)
  })
}
