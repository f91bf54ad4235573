import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { endLeftover, markerName, markOf } from '../src/runner/process-group.ts'
import { endTrials, keepMark } from '../src/trial-mark.ts'

t.test('a trial: what a killed server left of it is ended by the next one', async (t) => {
  const dir = t.testdir({ work: {} })
  const started = () =>
    spawn('sleep', ['60'], {
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, [markerName]: 'trial-1' },
    })
  const [known, unknown] = [started(), started()]
  t.teardown(() => [known, unknown].map((child) => child.kill('SIGKILL')))
  const gone = Promise.all([once(known, 'exit'), once(unknown, 'exit')])
  if (known.pid === undefined) throw new Error('the process did not start')
  await keepMark(join(dir, 'work', 'trial-1.mark'), markOf(known.pid))
  writeFileSync(join(dir, 'work', 'trial-2.mark'), '{"pid"')
  await endTrials(join(dir, 'work'))
  t.same(
    (await gone).map(([, signal]) => signal),
    ['SIGKILL', 'SIGKILL'],
    'the one without a mark is found by its environment',
  )
  await endTrials(join(dir, 'nowhere'))
})

t.test('a mark: a process with the same number of another boot is left alone', async (t) => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const gone = once(child, 'exit')
  const mark = markOf(child.pid as number)
  await endLeftover({ ...mark, started: `another${mark.started}` }, 'nobody')
  t.equal(child.kill(0), true)
  t.same(markOf(mark.pid), mark, 'it lives')
  await endLeftover(mark, 'nobody')
  t.same(await gone, [null, 'SIGKILL'])
  t.same(markOf(mark.pid), { pid: mark.pid, started: null })
})
