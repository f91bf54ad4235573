import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { PackedFrame } from '../src/recorder/packed-frame.ts'
import { openRunWriter, type RunWriter } from '../src/recorder/run-writer.ts'
import { lineReader } from '../src/recorder/wire-frame.ts'
import { frameLine, runLine } from './run-lines.ts'

const now = 1_700_000_000_000

interface Run {
  readonly writer: RunWriter
  /** Reads a line and takes it; gives the frame that it says, and whether it was new. */
  send(text: string): { readonly frame: PackedFrame | undefined; readonly isNew: boolean }
}

/** A run that is written in this thread, closed with the test. */
function open(t: Test): Run {
  const writer = openRunWriter(join(t.testdir(), 'run.db'), now)
  t.teardown(() => writer.close())
  const readLine = lineReader(writer.knowledge)
  return {
    writer,
    send(text) {
      const line = readLine(text)
      if ('run' in line) {
        writer.addRun(line.run)
        return { frame: undefined, isNew: true }
      }
      return { frame: line.frame, isNew: writer.addFrame(line.frame, now) }
    },
  }
}

t.test('run writer: frames that are sent again are read into the same memory', async (t) => {
  const { writer, send } = open(t)
  send(runLine)
  const first = send(frameLine(3)).frame?.bodies.buffer
  writer.flush(now)
  const used = new Set(Array.from({ length: 3000 }, () => send(frameLine(3)).frame?.bodies.buffer))
  t.equal(used.size, 1)
  t.ok(used.has(first))
})
