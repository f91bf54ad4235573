import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Long enough for a busy machine, ms. */
const patienceMs = 10_000

/** Whether bubblewrap is installed and may make namespaces here, which containers and some systems forbid. */
export async function hasBwrap(): Promise<boolean> {
  const space = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--ro-bind', '/', '/', '--proc', '/proc']
  try {
    await promisify(execFile)('bwrap', [...space, '--dev', '/dev', '--', 'true'], { timeout: patienceMs })
    return true
  } catch {
    return false // whatever keeps it from working, it does not
  }
}
