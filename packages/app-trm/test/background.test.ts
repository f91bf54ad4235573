import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { marked } from '../src/runner/process-group.ts'
import { judge, judged, openTrm, repairSums, replacing, textOf, unittest } from './trm-kit.ts'

verifies('trm:run:isolated', 'an ignored folder can be linked, or copied for each evaluation', async (t) => {
  const files = {
    ...judged,
    'p/.gitignore': 'cache/\nshared/\n',
    'p/cache/kept.txt': 'kept',
    'p/shared/kept.txt': 'kept',
  }
  const { client, root } = await openTrm(t, { files })
  const { ask } = client()
  const test = `cat cache/kept.txt shared/kept.txt && echo spoilt | tee cache/kept.txt shared/kept.txt; ${judge}`
  const { baseline } = await ask('start', {
    repo: 'p',
    test,
    options: { copy: ['cache', 'node_modules'], link: ['shared'] },
  })
  t.match(baseline, { tests: { passed: 1, total: 4 } })
  t.equal(textOf(root, 'p', 'cache', 'kept.txt'), 'kept', 'the copy took it')
  t.equal(textOf(root, 'p', 'shared', 'kept.txt'), 'spoilt\n', 'a link leads there')
  await t.rejects(ask('start', { repo: 'p', options: { copy: ['../other'] } }), { code: 'INVALID_ARGUMENTS' })
})

verifies('trm:run:isolated', async (t) => {
  const { client, root, dataDir } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const test = 'touch junk; rm -rf ../* 2>/dev/null; rm -f sums.py; echo x > ../outside; true'
  await ask('start', { repo: 'sums', test })
  await ask('submit', { candidate: repairSums })
  t.notOk(existsSync(join(root, 'sums', 'junk')) || existsSync(join(root, 'outside')))
  t.match(textOf(root, 'sums', 'sums.py'), /len\(values\)\)/)
  t.notOk(existsSync(join(dataDir, 'trm', 'work', 'outside')))
})

verifies('trm:submit:wait', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const gate = join(root, 'gate')
  const test = `while [ ! -e ${gate} ]; do sleep 0.05; done; ${unittest}`
  await ask('start', { repo: 'sums', test, preflight: false })
  const first = await ask('submit', { candidate: repairSums, wait: 0.05 })
  t.match(first, { status: 'running', step: 1, score: null })
  t.match(await ask('state', { wait: 0 }), { status: 'running', running: { step: 1 } })
  await t.rejects(ask('submit', { candidate: repairSums }), { code: 'SESSION_BUSY' })
  for (const tool of ['undo', 'reset', 'save']) await t.rejects(ask(tool), { code: 'SESSION_BUSY' }, tool)
  const waiting = ask('state', { wait: 20 })
  writeFileSync(gate, '')
  t.match(await waiting, { status: 'halted', step: 1, last: { score: 1, step: 1 }, running: null })
})

verifies('trm:submit:busy', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, preflight: false })
  const both = await Promise.allSettled([
    ask('submit', { candidate: repairSums }),
    ask('submit', { candidate: replacing('sums.py', '"""Sums', '"""More sums') }),
  ])
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult
  t.equal(refused.reason.code, 'SESSION_BUSY')
  t.equal((await ask('state')).step, 1)
})

verifies('trm:submit:cancel', 'its files are back and the step is not used', async (t) => {
  const { client, root, critic } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { sessionId } = await ask('start', { repo: 'sums', test: 'sleep 300', preflight: false })
  const before = textOf(root, 'sums', 'sums.py')
  const controller = new AbortController()
  const submitting = ask('submit', { candidate: repairSums }, { signal: controller.signal })
  await new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (critic.running.get(sessionId)?.progress.stage !== 'test') return
      clearInterval(look)
      resolve()
    }, 10)
  })
  t.not(textOf(root, 'sums', 'sums.py'), before, 'it had landed')
  const marker = critic.running.get(sessionId)?.step.marker ?? ''
  controller.abort()
  await t.rejects(submitting, { code: 'CANCELLED' })
  t.equal(textOf(root, 'sums', 'sums.py'), before)
  t.same(await marked(marker), [])
  t.match(await ask('state'), {
    status: 'cancelled',
    step: 0,
    running: null,
    history: [{ status: 'cancelled' }],
  })
})

verifies('trm:submit:progress', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask, client: raw } = client()
  await ask('start', { repo: 'sums', test: unittest, lint: 'true', dataQual: 'true', preflight: false })
  await ask('submit', { candidate: repairSums })
  const stages = raw.progress.map(([, , message]) => message)
  for (const stage of ['dataQual', 'test', 'lint']) t.ok(stages.includes(stage), stage)
  const done = raw.progress.map(([at]) => at)
  t.ok(
    done.every((at, index) => index === 0 || at > (done[index - 1] ?? 0)),
    String(done),
  )
  t.ok(raw.progress.every(([at, total]) => at <= (total ?? 0)))
})

verifies('trm:run:audit', async (t) => {
  const { client, critic } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { sessionId } = await ask('start', { repo: 'sums', lint: 'exit 3', test: unittest, timeout: 20 })
  await ask('submit', { candidate: replacing('sums.py', 'total(values) / (len', 'totl(values) / (len') })
  await ask('fix')
  await ask('end')
  const rows = await critic.store.commands(sessionId)
  t.same(
    rows
      .map(({ occasion, stage, exit_code }) => [occasion, stage, exit_code])
      .reverse()
      .slice(0, 4),
    [
      ['step 0', 'test', 1],
      ['step 0', 'lint', 3],
      ['step 1', 'test', 1],
      ['step 1', 'lint', 3],
    ],
  )
  t.ok(
    rows.some(({ occasion }) => occasion === 'trial'),
    'trials of repairs too',
  )
  for (const { pid, ms, bytes, cwd, command } of rows)
    t.ok(pid > 1 && ms !== null && bytes !== null && cwd.startsWith('/') && command !== '', command)
})

t.test('outputs: what a command wrote is a resource', async (t) => {
  const { client, dataDir } = await openTrm(t, { copies: ['sums'] })
  const { ask, client: raw } = client()
  const { sessionId } = await ask('start', {
    repo: 'sums',
    lint: 'echo to stdout; echo to stderr >&2; exit 1',
  })
  const { outputs } = await ask('state')
  t.same(outputs, [`trm://sessions/${sessionId}/steps/0/output/lint`])
  t.match(await raw.read(outputs[0]), { text: /^to stdout\n\n--- stderr ---\nto stderr\n$/ })
  const session = await raw.read(`trm://sessions/${sessionId}`)
  t.match(JSON.parse('text' in session ? session.text : ''), {
    steps: [{ kind: 'baseline' }],
    commands: [{ occasion: 'step 0', stage: 'lint', command: /^echo to stdout/, exit_code: 1, bytes: 20 }],
  })
  t.notMatch(JSON.stringify(session), dataDir, 'no folder of the server is told')
  await t.rejects(raw.read(`trm://sessions/${sessionId}/steps/0/output/none`), { code: 'RESOURCE_NOT_FOUND' })
})
