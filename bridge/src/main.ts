#!/usr/bin/env node
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatErrorText, isCausewayError } from '@causeway/protocol'
import { startBridge } from './bridge.ts'
import { type Log, noLog, openDebugLog } from './lifecycle/debug-log.ts'
import { readSettings, type Settings } from './settings/settings.ts'
import { usage } from './settings/usage.ts'
import { version } from './version.ts'

async function main(): Promise<void> {
  // Without a listener, a write to a closed stderr would throw, and so would the report of that error.
  process.stderr.on('error', () => {})
  try {
    const command = readSettings(process.argv.slice(2), process.env)
    if (command === 'help') process.stdout.write(usage)
    else if (command === 'version') process.stdout.write(`${version}\n`)
    else if (command.oauth.action !== 'relay') process.exitCode = await login(command)
    else if (command.doctor) process.exitCode = await doctor(command)
    else if (command.replay !== undefined) {
      const { replayTraffic } = await import('./stages/replay.ts')
      await replayTraffic(command.replay, process.stdin, process.stdout)
    } else
      await startBridge(command, {
        program: new URL(import.meta.url),
        log: command.debug ? openLog() : noLog,
        warn,
      })
  } catch (error) {
    if (!isCausewayError(error)) throw error
    warn(formatErrorText(error))
    process.exitCode = 2
  }
}

async function login(settings: Settings): Promise<number> {
  const { runLoginCommand } = await import('./login/login-command.ts')
  return runLoginCommand(settings, { print: (line) => void process.stdout.write(`${line}\n`), warn })
}

async function doctor(settings: Settings): Promise<number> {
  const { runDoctor } = await import('./doctor/doctor.ts')
  const [node = '', script = '', ...args] = process.argv
  const print = (text: string): void => void process.stdout.write(text)
  // A reader such as `head` may close the pipe early.
  process.stdout.on('error', () => process.exit(1))
  return runDoctor(settings, { started: { node, script, args, env: process.env }, debugLog, print })
}

function warn(text: string): void {
  process.stderr.write(`causeway-bridge: ${text}\n`)
}

const debugLog = join(tmpdir(), 'mcp_wrapper.log')

function openLog(): Log {
  try {
    return openDebugLog(debugLog, { pid: process.pid, now: () => new Date() })
  } catch (error) {
    warn(`no debug log: ${error}`)
    return noLog
  }
}

void main()
