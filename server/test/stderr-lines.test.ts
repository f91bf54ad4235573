import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'

const script = new URL('writes-lines.ts', import.meta.url).pathname

function writer(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, ['--conditions=@causeway/source', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

/** The numbers of lines. */
const numbers = (said: string): number[] =>
  said
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map(Number.parseFloat)

t.test('stderr: every line comes, in order, and those before an unplanned end', async (t) => {
  for (const args of [['5000'], ['30', 'at once']]) {
    const child = writer(...args)
    const said = text(child.stderr as NonNullable<typeof child.stderr>)
    await once(child, 'close')
    t.same(
      numbers(await said),
      Array.from({ length: Number(args[0]) }, (_, line) => line),
      args.join(' '),
    )
  }
})

t.test('stderr: nobody reads, and the process ends all the same', async (t) => {
  const child = writer('5000')
  const said = text(child.stdout as NonNullable<typeof child.stdout>)
  const [code, signal] = await once(child, 'exit')
  t.ok(code === 0 || signal === 'SIGKILL', 'in order, or at once where a write held it')
  t.equal(await said, 'done')
})

t.test('stderr: the reader has gone, and the process ends all the same', async (t) => {
  const child = writer('5000')
  child.stderr?.destroy()
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
})

t.test('stderr: what is too much for a reader that does not read is dropped, and counted', async (t) => {
  const child = writer('100000')
  // Read only once the writer has been held up: it has by then dropped what is over its limit.
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  const said = await text(child.stderr as NonNullable<typeof child.stderr>)
  t.ok(numbers(said).length < 100_000)
})
