import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** A server in a child process. */
export interface Program {
  /** URL, such as `http://127.0.0.1:41234`. */
  readonly url: string
  readonly pid: number
  /** CPU time used so far, in milliseconds; undefined on systems without /proc. */
  cpuMs(): number | undefined
  stop(): Promise<void>
}

/** Starts a server with Node and waits for the stderr line that contains its address. */
export async function startProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    // The IPC channel lets the server detect that the benchmark exited.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const url = await address(child)
  child.stderr?.resume()
  const pid = child.pid as number // it has written a line
  return {
    url,
    pid,
    cpuMs: () => cpuMs(pid),
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

async function address(child: ChildProcess): Promise<string> {
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stderr as NodeJS.ReadableStream })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (url !== undefined) return url
    lines.push(line)
  }
  throw new Error(`the server ended before it was ready:\n${lines.join('\n')}`)
}

/** Returns the user and system time of a process in milliseconds, with a resolution of 10 ms; undefined on systems without /proc. */
export const cpuMs = (pid: number): number | undefined => ticksMs(pid, 11)

/** Returns the same of the child processes of this process that have ended. */
export const endedChildrenCpuMs = (): number | undefined => ticksMs(process.pid, 13)

/** Returns the sum of two fields of /proc/<pid>/stat in milliseconds. Fields are counted from the one after the name. */
function ticksMs(pid: number, first: number): number | undefined {
  const fields = proc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ')
  return fields === undefined ? undefined : (Number(fields[first]) + Number(fields[first + 1])) * 10
}

/** Returns the current or peak resident memory of a process in bytes; undefined on systems without /proc. */
export function residentBytes(pid: number, when: 'now' | 'highest' = 'now'): number | undefined {
  const field = when === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  const kilobytes = field.exec(proc(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

/** Returns the memory of a process that no file backs, in bytes; undefined on systems without /proc. */
export function anonymousBytes(pid: number): number | undefined {
  const kilobytes = /RssAnon:\s+(\d+)/.exec(proc(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

function proc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

/** Returns each Node on PATH that the bridge supports, by version. */
export function nodes(): ReadonlyMap<string, string> {
  const found = new Map([[process.versions.node, process.execPath]])
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      const path = join(folder, 'node')
      const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
      if (Number(version.split('.')[0]) >= 20 && !found.has(version)) found.set(version, path)
    } catch {
      // This folder contains no Node.
    }
  }
  return found
}
