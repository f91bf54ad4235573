#!/usr/bin/env node
/**
 * Runs a command of this checkout, after installing and building whatever it needs: `node scripts/run.mjs <command>`.
 * Built-in modules and the syntax of Node 18 only, here and in `bootstrap/`: nothing is installed yet, and the Node may
 * be older than the one that the server needs.
 */
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Exit } from './bootstrap/exit.mjs'
import { Supervisor } from './bootstrap/supervisor.mjs'
import { tasks } from './bootstrap/tasks.mjs'
import { watchNpm } from './bootstrap/watch.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const say = (line) => void process.stderr.write(`causeway: ${line}\n`)
const [command = '', ...args] = process.argv.slice(2)
const supervisor = new Supervisor({ root, say })

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => supervisor.stop(signal))
const unwatch = watchNpm(() => {
  // A signal to the whole group kills npm and reaches us directly: told again, a server would stop draining.
  if (!supervisor.signal.aborted) supervisor.stop('SIGTERM')
})

try {
  const task = Object.hasOwn(tasks, command) ? tasks[command] : undefined
  if (task === undefined)
    throw new Exit(1, `no command "${command}"; there are ${Object.keys(tasks).join(', ')}`)
  process.exitCode = await task(supervisor, args)
} catch (error) {
  const exit = supervisor.signal.aborted ? supervisor.signal.reason : error
  if (!(exit instanceof Exit)) throw error
  if (exit.message !== '') say(exit.message)
  process.exitCode = exit.code
} finally {
  unwatch()
}
