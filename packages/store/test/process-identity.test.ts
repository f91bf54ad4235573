import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { processIdentity } from '@causeway/store'
import t from 'tap'

t.test(
  'processIdentity: the same for one process, another for the next, none for one that has ended',
  async (t) => {
    const own = processIdentity(process.pid)
    t.type(own, 'string')
    t.equal(processIdentity(process.pid), own)
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 9e9)'], { stdio: 'ignore' })
    t.teardown(() => void child.kill('SIGKILL'))
    const pid = child.pid as number
    // Elsewhere the time of a start is told to the second.
    if (process.platform === 'linux') t.not(processIdentity(pid), own)
    child.kill('SIGKILL')
    await once(child, 'exit')
    t.equal(processIdentity(pid), undefined)
  },
)

t.test('processIdentity: one that has ended and is only still listed is gone', async (t) => {
  // What the shell becomes never asks how its child ended.
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => void parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  while (processIdentity(pid) !== undefined) await turn()
  t.equal(process.kill(pid, 0), true, 'its number is still taken')
})
