import { spawn } from 'node:child_process'
import { getOpenerCommand } from '@causeway/protocol'

/** Resolves to `false` if the program cannot be started. */
export function openExternally(target: string): Promise<boolean> {
  const [program, ...args] = getOpenerCommand(target)
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
