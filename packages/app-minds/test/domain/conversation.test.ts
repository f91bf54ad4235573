import fc from 'fast-check'
import { verifies } from '../../../../test/verifies.ts'
import { type KeptMessage, mergeMessages } from '../../src/domain/conversation.ts'
import type { Message } from '../../src/domain/observation.ts'

const window = 5
const message = (timestamped: boolean) =>
  fc.record({
    speaker_id: fc.constantFrom('a', 'b'),
    speaker_name: fc.constant('x'),
    message: fc.constantFrom('ok', 'yes', 'no', 'well'),
    timestamp: timestamped ? fc.integer({ min: 0, max: 5 }) : fc.constant(null),
    is_system: fc.constant(false),
  })
const inOrder = (messages: readonly Message[]): Message[] =>
  [...messages].sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0))
const keyOf = ({ timestamp, speaker_id, message }: Message): string => `${timestamp} ${speaker_id} ${message}`
const words = (messages: readonly Message[]) =>
  messages.map(({ speaker_id, message }) => `${speaker_id}:${message}`)

/** Slides the game's window over a transcript by these steps, and gives what is kept. */
function slide(transcript: readonly Message[], steps: readonly number[]): readonly KeptMessage[] {
  let kept: readonly KeptMessage[] = []
  let end = 0
  for (const step of [...steps, transcript.length]) {
    end = Math.min(transcript.length, Math.max(end, end + step))
    kept = mergeMessages(kept, transcript.slice(Math.max(0, end - window), end), window).messages
    if (end === transcript.length) break
  }
  return kept
}

verifies(
  'minds:conversation:merge',
  'a window that slides by no more than its length keeps every message',
  async (t) => {
    const stepped = (most: number) =>
      fc.array(fc.integer({ min: 1, max: most }), { minLength: 60, maxLength: 60 })
    const isWhole = (transcript: readonly Message[], steps: readonly number[]): boolean =>
      words(slide(transcript, steps)).sort().join() === words(transcript).sort().join()
    const once = fc.uniqueArray(message(true), { maxLength: 40, selector: keyOf }).map(inOrder)
    fc.assert(fc.property(once, stepped(window), isWhole))
    // What is said twice in one tick counts twice where one window shows both.
    const twice = once.map((transcript) =>
      transcript.flatMap((one) => (one.message === 'ok' ? [one, one] : [one])),
    )
    fc.assert(fc.property(twice, stepped(window - 1), isWhole))
    const distinct = fc
      .array(message(false), { maxLength: 40 })
      .map((messages) => messages.map((one, index) => ({ ...one, message: `${one.message} ${index}` })))
    fc.assert(
      fc.property(
        distinct,
        stepped(window - 1),
        (transcript, steps) => words(slide(transcript, steps)).join() === words(transcript).join(),
      ),
    )
    t.pass('held for random transcripts')
  },
)

verifies('minds:conversation:merge', 'the same window again changes nothing', async (t) => {
  for (const timestamped of [true, false])
    fc.assert(
      fc.property(fc.array(message(timestamped), { maxLength: window }), (incoming) => {
        const once = mergeMessages([], incoming, window)
        const twice = mergeMessages(once.messages, incoming, window)
        return twice.added.length === 0 && words(twice.messages).join() === words(once.messages).join()
      }),
    )
  t.pass('held for random windows')
})

verifies('minds:conversation:merge', 'ok, ok is said twice, and a lost window leaves a gap', async (t) => {
  const say = (text: string, timestamp: number | null = null): Message => ({
    speaker_id: 'a',
    speaker_name: 'A',
    message: text,
    timestamp,
    is_system: false,
  })
  const first = mergeMessages([], [say('ok'), say('ok')])
  t.same(words(first.messages), ['a:ok', 'a:ok'])
  t.same(words(mergeMessages(first.messages, [say('ok'), say('ok'), say('ok')]).messages), [
    'a:ok',
    'a:ok',
    'a:ok',
  ])
  const lost = mergeMessages(
    first.messages,
    ['1', '2', '3', '4', '5'].map((text) => say(text)),
  )
  t.same(
    lost.added.map(({ gap }) => gap),
    [true, false, false, false, false],
  )
  t.same(
    mergeMessages([], [say('x', 2), say('y', 1.5)]).messages.map(({ message }) => message),
    ['y', 'x'],
  )
})
