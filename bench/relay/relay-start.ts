import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Contender } from './contenders.ts'
import { endProcess, type LineClient, openSession } from './line-client.ts'

/** The start and the exit of a program. */
export interface Start {
  /** Milliseconds from the start of the process to the first `tools/list`; for Node alone, to its first byte. */
  readonly coldMs: number
  /** Milliseconds from the end of stdin to the exit of the process; infinite if it was killed. */
  readonly endMs: number
}

/** Timeout of a bridge's exit in milliseconds. */
export const endPatienceMs = 2000

/** Starts a bridge, opens a session, and closes its stdin. */
export async function startOnce(
  contender: Contender,
  start: (contender: Contender) => LineClient,
): Promise<Start> {
  const before = performance.now()
  const client = start(contender)
  await openSession(client)
  const coldMs = performance.now() - before
  return { coldMs, endMs: (await client.end(endPatienceMs)) ?? Number.POSITIVE_INFINITY }
}

/** Starts Node with an idle program, the lower bound of every start. `look` inspects it before it exits. */
export async function bareNode<T>(
  node: string,
  look: (pid: number) => T | Promise<T>,
): Promise<Start & { readonly seen: T }> {
  const before = performance.now()
  const program = 'process.stdout.write("x"); process.stdin.resume()'
  const child = spawn(node, ['-e', program], { stdio: ['pipe', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  const coldMs = performance.now() - before
  const seen = await look(child.pid as number) // it has written
  return { coldMs, seen, endMs: (await endProcess(child)) ?? Number.POSITIVE_INFINITY }
}
