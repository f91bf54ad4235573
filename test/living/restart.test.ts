/** A server that is told to stop while every store is at work, by scripts and through bridges. */
import { join } from 'node:path'
import t from 'tap'
import { openBridge } from '../e2e/bridge-process.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, everyWork, leftovers, live, promisesOf, settingsOf } from './lives.ts'
import { Refused } from './work.ts'

const restarts = process.env.CAUSEWAY_LONG === undefined ? 1 : 10
t.setTimeout(120_000 + restarts * 60_000)

verifies('restart:no-loss', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = everyWork(root)
  const env = settingsOf(works)
  for (const work of works) work.before?.()
  let running = await startServer(t, { dir, env })
  const { url } = running
  for (const work of works) await work.begin({ url, dir })
  const bridge = await openBridge(t, { url: `${url}/mcp` })
  const over = new AbortController()
  // Calls through the bridge, which go on while there is no server.
  const answers: unknown[] = []
  const calling = (async () => {
    for (let id = 1; !over.signal.aborted; id++) {
      const args = { recording: 'drop', frame_id: 1, note: `through the bridge ${id}` }
      answers.push(await bridge.call(id, 'tools/call', { name: 'Replay__bookmark', arguments: args }))
    }
  })()
  for (let i = 0; i < restarts; i++) {
    let isStopping = false
    const { refusals } = await live(
      works,
      { url, dir },
      {
        atWork: () => {
          isStopping = true
          running.server.process.kill('SIGTERM')
        },
      },
    )
    const promised = promisesOf(works)
    t.ok(isStopping, 'every store was at work')
    const said = refusals.map((error) =>
      error instanceof Refused ? (error.answer.json.code ?? error.message) : String(error),
    )
    t.same(
      said.filter((code) => code !== 'SHUTTING_DOWN'),
      [],
      'what was accepted was answered, what was not was told so',
    )
    t.same(await running.server.exited, { code: 0, signal: null })
    checkFiles(t, dir)
    running = await startServer(t, { dir, env: { ...env, MCP_SERVER_PORT: new URL(url).port } })
    await checkAll(t, works, { url, dir }, promised)
  }
  over.abort()
  await calling
  t.ok(answers.length > 0)
  t.same(
    answers.filter(
      (answer) =>
        JSON.stringify(answer).includes('"isError":true') || !(answer as { result?: unknown }).result,
    ),
    [],
    'every call through the bridge was answered, over the restart too',
  )
  const { bookmarks } = (await (
    await fetch(`${url}/api/apps/replay/tools/bookmark`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ recording: 'drop' }),
    })
  ).json()) as { readonly bookmarks: readonly { readonly note: string }[] }
  const notes = bookmarks.map(({ note }) => note).filter((note) => note.startsWith('through'))
  t.equal(notes.length, answers.length, 'and each was done')
  t.equal(new Set(notes).size, notes.length, 'once')
  await running.server.stop()
  t.same(leftovers(dir), [])
})
