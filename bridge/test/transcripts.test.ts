import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { inCI, sample } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { Backend } from './backend.ts'
import { startBridge } from './client.ts'
import { type Case, describeCase } from './transcript.ts'
import { eras } from './transcripts/eras.ts'
import { failures } from './transcripts/failures.ts'
import { framing } from './transcripts/framing.ts'
import { http } from './transcripts/http.ts'
import { session } from './transcripts/session.ts'
import { stages } from './transcripts/stages.ts'

t.setTimeout(300_000)

const groups: Readonly<Record<string, readonly Case[]>> = { framing, http, session, failures, eras, stages }
const folder = fileURLToPath(new URL('transcripts', import.meta.url))

/** With `UPDATE_TRANSCRIPTS=1`, the test writes the files instead of comparing with them. */
const isRecording = process.env.UPDATE_TRANSCRIPTS === '1'

/** Flags of optional stages that must not change what client and server receive. */
const transparentFlags = (t: Test): readonly string[] => [
  ...['--only', '*'],
  ...['--record', join(t.testdirName, 'traffic.jsonl')],
  '--offline-list',
]

async function play(t: Test, { args = [], server, isServerDown, run }: Case, flags: readonly string[] = []) {
  t.testdir({})
  const backend = new Backend()
  await backend.start()
  if (isServerDown) await backend.stop()
  t.teardown(() => backend.stop())
  server?.(backend)
  const env = { XDG_CACHE_HOME: t.testdirName, TMPDIR: t.testdirName }
  const client = startBridge(t, { url: backend.url, args: [...args, ...flags], env })
  await run(client, backend)
  // The GET stream of a session opens concurrently with calls, so the transcript waits for it.
  const isOpen = backend.got.all.some(
    ({ headers, message }) =>
      message?.method === 'notifications/initialized' && headers['mcp-session-id'] !== undefined,
  )
  if (isOpen) await backend.saw('GET')
  client.end()
  return describeCase(client, backend)
}

for (const [group, cases] of Object.entries(groups))
  verifies('bridge:transcripts', `the ${group} transcripts are reproduced`, async (t) => {
    t.jobs = 4
    const path = join(folder, `${group}.txt`)
    const recorded = readTranscripts(existsSync(path) ? readFileSync(path, 'utf8') : '')
    const played = new Map<string, string>()
    await Promise.all(
      (isRecording ? cases : sample(cases, 3)).map((one) =>
        t.test(one.name, { buffered: true }, async (t) => {
          const text = await play(t, one)
          played.set(one.name, text)
          if (!isRecording) t.equal(text, recorded.get(one.name))
        }),
      ),
    )
    if (isRecording)
      writeFileSync(path, cases.map(({ name }) => `# ${name}\n${played.get(name)}\n`).join('\n'))
    else
      t.same(
        [...recorded.keys()],
        cases.map(({ name }) => name),
      )
  })

verifies(
  'bridge:transcripts',
  'optional stages do not change the transcripts',
  inCI(async (t) => {
    t.jobs = 4
    for (const [group, cases] of Object.entries(groups)) {
      const recorded = readTranscripts(readFileSync(join(folder, `${group}.txt`), 'utf8'))
      for (const one of cases.filter(({ isTransparent = true }) => isTransparent))
        t.test(one.name, { buffered: true }, async (t) =>
          t.equal(await play(t, one, transparentFlags(t)), recorded.get(one.name)),
        )
    }
  }),
)

/** Parses a transcript file: `# name`, then its lines, then a blank line. */
function readTranscripts(text: string): Map<string, string> {
  return new Map(
    text
      .split(/^# /m)
      .filter(Boolean)
      .map((section) => {
        const end = section.indexOf('\n')
        return [section.slice(0, end), section.slice(end + 1).trimEnd()]
      }),
  )
}
