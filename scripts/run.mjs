#!/usr/bin/env node
/**
 * Runs a command of this checkout, after installing what it needs: `node scripts/run.mjs <command>`. This file and
 * `bootstrap/` use built-in modules and the syntax of Node 18 only: nothing is installed yet, and Node may be old.
 */
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Exit, Supervisor, watchNpm } from './bootstrap/supervisor.mjs'
import { tasks } from './bootstrap/tasks.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const say = (line) => void process.stderr.write(`causeway: ${line}\n`)
const [command = '', ...args] = process.argv.slice(2)
const supervisor = new Supervisor({ root, say })

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => supervisor.stop(signal))
const unwatch = watchNpm(() => {
  // A signal to the process group ends npm and also reaches this process. A second one would make the server exit at once.
  if (!supervisor.signal.aborted) supervisor.stop('SIGTERM')
})

try {
  const task = Object.hasOwn(tasks, command) ? tasks[command] : undefined
  if (task === undefined)
    throw new Exit(2, `unknown command "${command}"; use one of ${Object.keys(tasks).join(', ')}`)
  process.exitCode = await task(supervisor, args)
} catch (error) {
  const exit = supervisor.signal.aborted ? supervisor.signal.reason : error
  if (!(exit instanceof Exit)) throw error
  if (exit.message !== '') say(exit.message)
  process.exitCode = exit.code
} finally {
  unwatch()
}
