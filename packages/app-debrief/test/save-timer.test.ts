import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { saveTimer } from '../src/save-timer.ts'

/** A timer in a time of its own: `pass` lets it pass, and `saves` has the times of the saves. */
function timed(saveAfterMs: number) {
  let nowMs = 0
  let due: { readonly atMs: number; readonly work: () => void } | undefined
  const saves: number[] = []
  const timer = saveTimer({
    now: () => nowMs,
    saveAfterMs,
    save: () => void saves.push(nowMs),
    schedule(work, ms) {
      const mine = { atMs: nowMs + ms, work }
      due = mine
      return () => {
        if (due === mine) due = undefined
      }
    },
  })
  return {
    timer,
    saves,
    pass(ms: number): void {
      const untilMs = nowMs + ms
      while (due !== undefined && due.atMs <= untilMs) {
        const { atMs, work } = due
        nowMs = atMs
        due = undefined
        work()
      }
      nowMs = untilMs
    },
  }
}

/** Changes so often for so long, and then nothing. */
function busy(
  saveAfterMs: number,
  { everyMs, forMs }: { everyMs: number; forMs: number },
): readonly number[] {
  const { timer, saves, pass } = timed(saveAfterMs)
  for (let passed = 0; passed < forMs; passed += everyMs) {
    timer.soon(false)
    pass(everyMs)
  }
  pass(1e9)
  return saves
}

verifies('debrief:save:pause', 'one save after the last of some changes', async (t) => {
  t.same(busy(250, { everyMs: 100, forMs: 500 }), [650])
})

verifies('debrief:save:pause', 'changes without end are saved two seconds after the first', async (t) => {
  t.same(busy(250, { everyMs: 100, forMs: 4500 }), [2000, 4000, 4650])
})

verifies('debrief:save:pause', 'a longer pause is kept to, also while changes follow', async (t) => {
  t.same(busy(10_000, { everyMs: 10_000, forMs: 10_000 }), [10_000])
  t.same(busy(10_000, { everyMs: 4000, forMs: 8000 }), [10_000])
  t.same(busy(3_600_000, { everyMs: 60_000, forMs: 3_600_000 }), [3_600_000])
})

t.test('save timer: a save that failed is tried again after five seconds, whatever follows', async (t) => {
  const { timer, saves, pass } = timed(250)
  for (let passed = 0; passed < 5000; passed += 1000) {
    timer.soon(true)
    pass(1000)
  }
  t.same(saves, [5000])
})

t.test('save timer: once it is stopped, nothing is saved by itself', async (t) => {
  const { timer, saves, pass } = timed(250)
  timer.soon(false)
  timer.stop()
  timer.soon(false)
  pass(1e9)
  t.same(saves, [])
})
