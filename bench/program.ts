import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** A server in a process of its own. */
export interface Program {
  /** `http://127.0.0.1:41234` */
  readonly url: string
  readonly pid: number
  /** Processor time used so far, ms; undefined where the system has no /proc. */
  cpuMs(): number | undefined
  stop(): Promise<void>
}

/** Starts a server with Node and waits for a line of its stderr that holds its address. */
export async function startProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    // By the channel a server notices that the benchmark is gone, and ends.
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

/** User and system time of a process, ms, counted in ticks of 10 ms; undefined where the system has no /proc. */
export function cpuMs(pid: number): number | undefined {
  const fields = proc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ')
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10
}

/** Resident memory of a process, bytes, now or at its highest; undefined where the system has no /proc. */
export function residentBytes(pid: number, when: 'now' | 'highest' = 'now'): number | undefined {
  const field = when === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  const kilobytes = field.exec(proc(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

function proc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

/** Every Node on PATH that the bridge supports, one of each version, by version. */
export function nodes(): ReadonlyMap<string, string> {
  const found = new Map([[process.versions.node, process.execPath]])
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      const path = join(folder, 'node')
      const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
      if (Number(version.split('.')[0]) >= 20 && !found.has(version)) found.set(version, path)
    } catch {
      // No Node in this folder.
    }
  }
  return found
}
