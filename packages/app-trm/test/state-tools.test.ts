import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { freshStanding } from '../src/domain/score.ts'
import { sessionConfig } from '../src/domain/session-config.ts'
import trm from '../src/index.ts'
import { judge, judged, openTrm, replacing, scored, textOf } from './trm-kit.ts'

verifies('trm:end:best', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  await ask('submit', { candidate: scored(3) })
  await ask('submit', { candidate: scored(2) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'late.txt', content: 'x' }] } })
  t.match(await ask('end', { apply: 'best' }), { ok: true, filesRestored: ['late.txt', 'score'] })
  t.equal(textOf(root, 'p', 'score'), '3\n')
  t.notOk(existsSync(join(root, 'p', 'late.txt')))
  await t.rejects(ask('state'), { code: 'SESSION_NOT_FOUND' })
})

verifies('trm:end:best', 'a running evaluation is cancelled, and its files are back', async (t) => {
  const { client, root, critic } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: 'sleep 300', preflight: false })
  await ask('submit', { candidate: scored(3), wait: 0.05 })
  t.match(await ask('end'), { ok: true })
  t.equal(critic.running.size, 0)
  t.equal(textOf(root, 'p', 'score'), '1\n')
})

verifies('trm:submit:once', async (t) => {
  const { critic, app } = await openTrm(t, { files: judged })
  const session = {}
  const call = (name: string, args: object, requestId: string) => {
    const tool = trm.tools.find((one) => one.name === name)
    const context = {
      store: app.store,
      session,
      sharedSession: false,
      signal: new AbortController().signal,
      progress() {},
      notify() {},
      log: critic.log,
      now: critic.now,
      client: { name: 'test', version: '0' },
      requestId,
      input: { replies: {}, kept: undefined, can: () => false },
    }
    return tool?.call(args, context as never) as Promise<{ structuredContent: Record<string, unknown> }>
  }
  const start = { repo: 'p', test: judge, preflight: false }
  const [first, again] = [await call('start', start, 'a'), await call('start', start, 'a')]
  t.equal(again.structuredContent.sessionId, first.structuredContent.sessionId)
  const submit = { candidate: scored(3) }
  const [one, same] = [await call('submit', submit, 'b'), await call('submit', submit, 'b')]
  t.same(same.structuredContent, one.structuredContent)
  const [undo, twice] = [await call('undo', {}, 'c'), await call('undo', {}, 'c')]
  t.same(twice.structuredContent, undo.structuredContent)
  t.equal((await critic.store.steps(String(first.structuredContent.sessionId))).length, 1)
})

verifies('trm:state:whole', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  t.match(await ask('halt'), { shouldHalt: false, reasons: ['No evaluations yet'] })
  t.match(await ask('state'), { step: 0, last: null, history: [] })
  const result = await ask('submit', { candidate: scored(4), reason: 'all' })
  t.match(await ask('halt'), { shouldHalt: true, reasons: result.reasons })
  const state = await ask('state')
  t.same(state.last.signals, result.signals)
  t.match(state, { zNotes: 'all', history: [{ step: 1, reason: 'all', score: 1 }], stepsLeft: 11 })
  t.equal(textOf(root, 'p', 'score'), '4\n')
})

verifies('trm:validate:exact', async (t) => {
  const { client, root } = await openTrm(t, { files: { 'p/a.txt': 'one\ntwo\nthree\n' } })
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const shown = await ask('validate', { candidate: replacing('a.txt', 'two', 'TWO') })
  t.same(shown.preview.filesPreviews[0], {
    file: 'a.txt',
    beforeLines: ['one', 'two', 'three'],
    afterLines: ['one', 'TWO', 'three'],
    linesAdded: 1,
    linesRemoved: 1,
    changeType: 'modification',
  })
  for (const candidate of [
    { mode: 'create', files: [{ path: 'a.txt', content: '' }] },
    replacing('b.txt', 'a', 'b'),
  ]) {
    const { valid, errors } = await ask('validate', { candidate })
    const error = await ask('submit', { candidate }).catch((cause) => cause)
    t.same([valid, errors[0].code], [false, error.code])
  }
  t.equal(textOf(root, 'p', 'a.txt'), 'one\ntwo\nthree\n')
})

verifies('trm:start:most', async (t) => {
  const { client, critic } = await openTrm(t, { files: judged })
  const { ask } = client()
  const config = sessionConfig('/nowhere', {})
  const standing = freshStanding('')
  for (let count = 0; count < 50; count++)
    await critic.store.createSession({ id: `old-${count}`, config, standing }, `old ${count}`, {})
  await t.rejects(ask('start', { repo: 'p', preflight: false }), { code: 'TOO_MANY_SESSIONS' })
  const later = { ...critic, now: () => Date.now() + 8 * 86_400_000 }
  const call = trm.tools.find(({ name }) => name === 'start')
  const context = {
    store: later,
    session: {},
    sharedSession: false,
    signal: new AbortController().signal,
    progress() {},
    notify() {},
    log: critic.log,
    now: later.now,
    client: { name: 'test', version: '0' },
    requestId: 'later',
    note() {},
    clientKey: 'test',
    input: { replies: {}, kept: undefined, can: () => false },
  }
  await call?.call({ repo: 'p', preflight: false }, context)
  const open = await critic.store.sessions()
  t.equal(open.length, 50, 'one that was left alone for a week made room')
  t.notOk(open.some(({ id }) => id === 'old-0'))
})
