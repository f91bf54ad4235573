import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Contender } from './contenders.ts'
import { endOf, type LineClient, openSession } from './line-client.ts'

/** One start of a program, and its end. */
export interface Start {
  /** From the start of the process to the first `tools/list`, ms; of Node alone, to its first byte. */
  readonly coldMs: number
  /** From the end of stdin to the end of the process, ms; infinite where it had to be killed. */
  readonly endMs: number
}

/** How long a bridge may take to end, before that counts as never, ms. */
export const endPatienceMs = 2000

/** Starts a bridge, opens a session, and ends it by the end of its stdin. */
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

/** Starts Node with a program that does nothing but live, the floor of every start; `look` sees it before it ends. */
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
  return { coldMs, seen, endMs: (await endOf(child)) ?? Number.POSITIVE_INFINITY }
}
